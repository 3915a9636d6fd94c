/** What can be wrong with the way an operator is set up: a stable code, and what a person can do about it. */

/** Code → what to do. The page `docs/reference/errors.md` explains each of them; a test keeps the two in step. */
export const errorCatalogue = {
  BERTH_EXTENDER_OPEN: "Give the extender a certificate and its clients' authority, or let it listen on 127.0.0.1.",
  BERTH_OPERATOR_OPTION_INVALID: "Correct the option that the message names.",
} as const;

/** One of them. */
export type OperatorErrorCode = keyof typeof errorCatalogue;

/** The one error class of this package. The message says what was wrong; `remedy` what to do. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
  readonly code: OperatorErrorCode;

  constructor(code: OperatorErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  get remedy(): string {
    return errorCatalogue[this.code];
  }
}
