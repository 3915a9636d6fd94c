/** Free TCP ports. */
import { createServer } from "node:net";
import { ClusterError } from "../errors.ts";
import { randomBetween } from "../random.ts";

// Below the range from which the kernel takes ports for outgoing connections (32768 and up on Linux): a port chosen
// there could be lent to somebody's request between our choice and the component's start.
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** What this process has given out: whoever got it may not have begun to listen. */
const given = new Set<number>();

/** Chooses a port that nobody listens on now. Chosen at random, so that clusters started at once do not meet. */
export async function freePort(address = "127.0.0.1"): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomBetween(LOWEST, HIGHEST);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port, address)) return port;
  }
  throw new ClusterError("BERTH_CLUSTER_PORT_IN_USE", `no free port between ${LOWEST} and ${HIGHEST} on ${address}`);
}

/**
 * Does what chooses ports, and does it anew, with other ports, if somebody else came first to one of them. Between our
 * choice and the moment when a component listens is a gap that no choice can close: other programs choose ports too.
 */
export async function onFreePorts<T>(work: () => Promise<T>, attempts = 5): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const taken = error instanceof ClusterError && error.code === "BERTH_CLUSTER_PORT_IN_USE";
      if (!taken || attempt === attempts) throw error;
    }
  }
}

/** Rejects unless `port` can be listened on. */
export async function requireFreePort(port: number, address = "127.0.0.1"): Promise<void> {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new ClusterError("BERTH_CLUSTER_OPTION_INVALID", `port must be a whole number from 1 to 65535, not ${port}`);
  }
  if (!(await isFree(port, address))) {
    throw new ClusterError("BERTH_CLUSTER_PORT_IN_USE", `port ${port} on ${address} is in use`);
  }
}

async function isFree(port: number, address: string): Promise<boolean> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ port, host: address, exclusive: true }, resolve);
    });
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
