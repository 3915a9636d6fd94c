/** Which object to look at, and nothing about why: reconcilers act on what is, not on what has happened. */

/** The object to look at. */
export interface Request {
  /** Empty for kinds without namespaces. */
  readonly namespace: string;
  readonly name: string;
}

/** From what `keyText` made of it, which is how the work queue holds it. */
export function requestOf(key: string): Request {
  const slash = key.indexOf("/");
  return slash === -1 ? { namespace: "", name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** What a reconciler wants next. Nothing: to be called when something changes. */
export interface Result {
  /** To be called again after so many milliseconds, whatever happens. */
  readonly requeueAfter?: number;
  /** To be called again soon, and later each time. */
  readonly requeue?: boolean;
  /** The priority of that. Default: as it was. */
  readonly priority?: number;
}

/** A failure that trying again cannot mend: it is reported, and the object is left until it changes. */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
}
