/** What a pod's containers say: "pods/log". */
import type { ApiRequest } from "@berth/kube";
import type { Exchange } from "./exchange.ts";

/** What a pod's container says; refuses before the first bytes, if it does. */
export type Logs = (request: ApiRequest) => AsyncIterable<Uint8Array>;

/** Whoever follows a log may wait for long, so the clock is not held meanwhile. */
export async function serveLog(exchange: Exchange, request: ApiRequest, logs: Logs | undefined): Promise<void> {
  const gone = new AbortController();
  exchange.onClose(() => gone.abort());
  const lines = logs?.({ ...request, signal: gone.signal })[Symbol.asyncIterator]();
  // A refusal comes instead of the first line.
  let next = await lines?.next();
  exchange.begin(200, { "content-type": "text/plain" });
  while (next && !next.done && exchange.isOpen) {
    exchange.write(next.value);
    next = await lines?.next();
  }
  exchange.end();
}
