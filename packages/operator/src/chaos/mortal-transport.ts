/** The transport of a process that is killed: from some moment on nothing of it is sent, and nothing is answered. */
import type { ApiRequest, Transport } from "@berth/kube";

export interface Mortal {
  readonly transport: Transport;
  /** After so many more writes: the last of them happens, but its answer is not heard. */
  end(writes: number): void;
}

export function mortal(transport: Transport): Mortal {
  const death = new AbortController();
  const killed = new Error("killed");
  let left = Number.POSITIVE_INFINITY;
  const isWrite = ({ verb }: ApiRequest) => verb !== "get" && verb !== "list";
  const both = (signal: AbortSignal | undefined) => (signal ? AbortSignal.any([signal, death.signal]) : death.signal);
  return {
    transport: {
      namespace: transport.namespace,
      request: async (request) => {
        if (death.signal.aborted) throw killed;
        if (!isWrite(request)) return transport.request({ ...request, signal: both(request.signal) });
        const isLast = --left <= 0;
        if (isLast) death.abort(killed);
        const answer = await transport.request(request);
        if (isLast) throw killed;
        return answer;
      },
      watch: (request, onEvent) =>
        death.signal.aborted
          ? Promise.reject(killed)
          : transport.watch({ ...request, signal: both(request.signal) }, (event) => {
              if (!death.signal.aborted) return onEvent(event);
            }),
      bytes: (request) => transport.bytes(request),
      exec: (request) => transport.exec(request),
      close: async () => {},
    },
    end: (writes) => {
      if (writes === 0) death.abort(killed);
      else left = writes;
    },
  };
}
