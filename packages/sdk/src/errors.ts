/** What a gateway says when it cannot do what it was asked: problem details with a stable code. */

export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  /** What to do about it. */
  readonly remedy?: string;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
}

/** The one error class of this package. */
export class BerthError extends Error {
  override readonly name = "BerthError";
  readonly status: number;
  readonly code: string;
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`${problem.detail} (${problem.code})`);
    this.status = problem.status;
    this.code = problem.code;
    this.problem = problem;
  }
}
