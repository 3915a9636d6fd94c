/** A transport whose requests do not wait behind others. */
import type { Transport } from "../transport/transport.ts";

/** For a leader's renewals: a hundred slow writes before it must not cost the lease. */
export function urgentTransport(transport: Transport): Transport {
  return {
    namespace: transport.namespace,
    request: (request) => transport.request({ ...request, urgent: true }),
    watch: (request, onEvent) => transport.watch(request, onEvent),
    bytes: (request) => transport.bytes(request),
    exec: (request) => transport.exec(request),
    close: () => transport.close(),
  };
}
