/** A transport whose requests do not wait behind others. */
import type { Transport } from "../transport/transport.ts";
import { transportWith } from "../transport/transport-with.ts";

/** For a leader's renewals: a hundred slow writes before it must not cost the lease. */
export function urgentTransport(transport: Transport): Transport {
  return transportWith(transport, { request: (request) => transport.request({ ...request, urgent: true }) });
}
