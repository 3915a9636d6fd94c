/** A watch as something to iterate over. The stream waits while the reader is busy, and ends when the reader goes. */
import type { KubernetesObject } from "../objects/meta.ts";
import type { Transport, WatchEvent, WatchRequest } from "../transport/transport.ts";

export async function* watchEvents<T extends KubernetesObject>(
  transport: Transport,
  request: WatchRequest,
): AsyncGenerator<WatchEvent<T>, void, void> {
  const left = new AbortController();
  const signal = request.signal ? AbortSignal.any([request.signal, left.signal]) : left.signal;
  // One event at a time changes hands: `offer` holds it, and `taken` lets the stream go on.
  let offer = Promise.withResolvers<WatchEvent | undefined>();
  let taken = Promise.withResolvers<void>();
  const ended = transport
    .watch({ ...request, signal }, (event) => {
      offer.resolve(event);
      return taken.promise;
    })
    .then(() => offer.resolve(undefined));
  ended.catch((error) => offer.reject(error));
  try {
    for (let event = await offer.promise; event; event = await offer.promise) {
      yield event as WatchEvent<T>;
      const next = taken;
      offer = Promise.withResolvers();
      taken = Promise.withResolvers();
      next.resolve();
    }
  } finally {
    left.abort();
    taken.resolve();
    offer.promise.catch(() => {}); // the end of a stream that nobody listens to any more
    await ended.catch(() => {});
  }
}
