/** What `spark-submit` would end with an error for. */
export class SubmissionError extends Error {
  override readonly name = "SubmissionError";
}
