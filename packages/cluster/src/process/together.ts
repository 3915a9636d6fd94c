/** Several things at once, all of which have ended when it is over. */

/**
 * Runs tasks at the same time. If one fails, the others are told to stop through their signal, and have ended before
 * its error is passed on: whoever cleans up afterwards meets nobody who is still at work.
 */
export async function together(
  outer: AbortSignal | undefined,
  ...tasks: readonly ((signal: AbortSignal) => Promise<unknown>)[]
): Promise<void> {
  const failure = new AbortController();
  const signal = AbortSignal.any([failure.signal, ...(outer ? [outer] : [])]);
  const errors: unknown[] = [];
  const run = (task: (signal: AbortSignal) => Promise<unknown>) =>
    task(signal).catch((error: unknown) => {
      errors.push(error);
      failure.abort(error);
    });
  await Promise.all(tasks.map(run));
  if (errors.length > 0) throw errors[0];
}
