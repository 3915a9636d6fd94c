/** How rendering ends early: a problem travels up as an exception, and is an answer again at the top. */
import type { RenderProblem } from "./application.ts";

class Refusal extends Error {
  readonly problem: RenderProblem;

  constructor(problem: RenderProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** Ends the rendering around it. */
export function refuse(code: RenderProblem["code"], message: string): never {
  throw new Refusal({ code, message });
}

/** What was rendered, or why it was refused. */
export function answered<T>(render: () => T): { readonly object: T } | { readonly problem: RenderProblem } {
  try {
    return { object: render() };
  } catch (error) {
    if (error instanceof Refusal) return { problem: error.problem };
    throw error;
  }
}
