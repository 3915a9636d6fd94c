/** A transport that writes only for as long as it may. Reads are always allowed: caches stay warm. */
import { KubeError } from "../errors.ts";
import type { Transport } from "../transport/transport.ts";
import { transportWith } from "../transport/transport-with.ts";

/**
 * @param mayWrite - Asked before each write: not what was true when a reconciler began counts, but what is true now.
 * @param revoked - Aborted when writes that are on their way have to be given up.
 */
export function fencedTransport(transport: Transport, mayWrite: () => boolean, revoked: AbortSignal): Transport {
  const check = () => {
    if (!mayWrite()) throw new KubeError("KUBE_LEADERSHIP_LOST", "this process does not lead, and must not write");
  };
  const both = (signal: AbortSignal | undefined) => (signal ? AbortSignal.any([signal, revoked]) : revoked);
  return transportWith(transport, {
    async request(request) {
      if (request.verb === "get" || request.verb === "list") return transport.request(request);
      check();
      return transport.request({ ...request, signal: both(request.signal) });
    },
    async exec(request) {
      check(); // a command can change anything
      return transport.exec({ ...request, signal: both(request.signal) });
    },
  });
}
