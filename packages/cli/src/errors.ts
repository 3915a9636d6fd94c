/** What can be wrong with a command: a stable code, and what a person can do about it. */

/** Code → what to do. The page `docs/reference/errors.md` explains each of them; a test keeps the two in step. */
export const errorCatalogue = {
  BERTH_CLI_USAGE: "Look at berth --help, or at the help of the command.",
  BERTH_CLI_NO_GATEWAY: "Start one with berth up, or say where it is with --url, or name a cluster with --kubeconfig.",
  BERTH_CLI_FILE: "Look at the file that the message names.",
} as const;

/** One of them. */
export type CliErrorCode = keyof typeof errorCatalogue;

/** The one error class of this package. The message says what was wrong; `remedy` what to do. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: CliErrorCode;

  constructor(code: CliErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  get remedy(): string {
    return errorCatalogue[this.code];
  }
}
