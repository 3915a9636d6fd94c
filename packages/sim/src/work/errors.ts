/** What can be wrong with a work model: a stable code, and what a person can do about it. */

/** Code → what to do. The page `docs/reference/work-model.md` explains each of them. */
export const workModelErrors = {
  SIM_WORK_MODEL_INVALID: "Correct the fields that the message names; docs/reference/work-model.md describes them all.",
  SIM_WORK_MODEL_NOT_FOUND: "Check the path in the message.",
  SIM_WORK_MODEL_NOT_YAML: "Correct the YAML in the line that the message names.",
} as const;

/** The codes of `WorkModelError`; stable. */
export type WorkModelErrorCode = keyof typeof workModelErrors;

/** One thing that is wrong, and where. */
export interface WorkModelProblem {
  /** As in the file: "kinds[2].work". */
  readonly path: string;
  readonly message: string;
}

/** Thrown for a work model that cannot be used. The message names every field that is wrong. */
export class WorkModelError extends Error {
  override readonly name = "WorkModelError";
  readonly code: WorkModelErrorCode;
  readonly problems: readonly WorkModelProblem[];

  constructor(code: WorkModelErrorCode, source: string, problems: readonly WorkModelProblem[], options?: ErrorOptions) {
    const lines = problems.map(({ path, message }) => (path ? `${path}: ${message}` : message));
    super(`${source}: ${lines.join("; ")}`, options);
    this.code = code;
    this.problems = problems;
  }

  /** What a person can do about it. */
  get remedy(): string {
    return workModelErrors[this.code];
  }
}
