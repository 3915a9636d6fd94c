/** Ctrl-C, and what Kubernetes sends to a container that has to end. */

/** Aborted at the first SIGTERM or SIGINT. At the second one the process ends at once: somebody is in a hurry. */
export function setupSignalHandler(): AbortSignal {
  const stop = new AbortController();
  const handle = (signal: NodeJS.Signals) => {
    if (stop.signal.aborted) process.exit(1);
    stop.abort(new Error(`received ${signal}`));
  };
  process.on("SIGTERM", handle);
  process.on("SIGINT", handle);
  return stop.signal;
}
