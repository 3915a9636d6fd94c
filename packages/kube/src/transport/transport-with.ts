/** A transport like another, but for some of its methods. */
import type { Transport } from "./transport.ts";

export function transportWith(transport: Transport, different: Partial<Transport>): Transport {
  return {
    namespace: transport.namespace,
    request: (request) => transport.request(request),
    watch: (request, onEvent) => transport.watch(request, onEvent),
    bytes: (request) => transport.bytes(request),
    exec: (request) => transport.exec(request),
    close: () => transport.close(),
    ...different,
  };
}
