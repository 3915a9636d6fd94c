/** Waiting that can be given up, whatever is waited for. */

/**
 * The promise, or the reason of the first signal that is aborted. What the promise comes to after that is nobody's affair:
 * whoever can be told to stop has to be told besides.
 */
export function orAborted<T>(promise: Promise<T>, ...signals: (AbortSignal | undefined)[]): Promise<T> {
  const given = signals.filter((signal) => signal !== undefined);
  if (given.length === 0) return promise;
  return new Promise((resolve, reject) => {
    const listeners = given.map((signal) => {
      const abort = () => {
        leave();
        reject(signal.reason);
      };
      return { signal, abort };
    });
    const leave = () => {
      for (const { signal, abort } of listeners) signal.removeEventListener("abort", abort);
    };
    promise.then(resolve, reject).finally(leave);
    for (const { signal, abort } of listeners) {
      if (signal.aborted) return abort();
      signal.addEventListener("abort", abort);
    }
  });
}

/** Resolves when the signal is aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return orAborted(new Promise<void>(() => {}), signal).catch(() => {});
}
