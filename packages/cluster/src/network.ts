/**
 * The network of real nodes: one bridge on this machine, one network namespace for each node, one /16 for the cluster.
 *
 *   10.K.0.1      this machine, on the bridge
 *   10.K.0.(1+i)  node i, on its eth0
 *   10.K.i.0/24   the pods of node i
 *
 * The whole /16 is on the bridge's link, and each node answers ARP requests for its own pods. So neither this machine
 * nor the nodes need a route for each other, and no setting of this machine is changed: adding or removing a node
 * concerns that node alone.
 */
import { execFileSync } from "node:child_process";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { ClusterError } from "./errors.ts";
import { withLock } from "./lock.ts";
import { stateFolder } from "./places.ts";

/** As many as there are numbers for them in an address. */
export const MOST_REAL_NODES = 250;

const FIRST = 200;
const LAST = 239;

/** A node's addresses. */
export interface NodeAddresses {
  readonly host: string;
  readonly node: string;
  readonly podSubnet: string;
  readonly podGateway: string;
}

/** Pure: where node `index` (from 1) of the network `prefix` ("10.201") is. */
export function addressesOf(prefix: string, index: number): NodeAddresses {
  if (index < 1 || index > MOST_REAL_NODES) {
    const message = `a cluster has at most ${MOST_REAL_NODES} real nodes, not ${index}`;
    throw new ClusterError("BERTH_CLUSTER_OPTION_INVALID", message);
  }
  return {
    host: `${prefix}.0.1`,
    node: `${prefix}.0.${1 + index}`,
    podSubnet: `${prefix}.${index}.0/24`,
    podGateway: `${prefix}.${index}.1`,
  };
}

/** Makes the cluster's bridge with a /16 that nothing on this machine uses; returns the first two numbers. */
export function createNetwork(tag: string): Promise<string> {
  // The lock is for all clusters of this user: two that start at once must not choose the same addresses.
  return withLock(join(stateFolder(), "locks", "network"), async () => {
    const taken = usedPrefixes();
    for (let second = FIRST; second <= LAST; second++) {
      const prefix = `10.${second}`;
      if (taken.has(prefix)) continue;
      ip("link", "add", tag, "type", "bridge");
      ip("address", "add", `${prefix}.0.1/16`, "dev", tag);
      ip("link", "set", tag, "up");
      return prefix;
    }
    throw new ClusterError("BERTH_CLUSTER_NETWORK", `all of 10.${FIRST}.0.0/16 to 10.${LAST}.0.0/16 are in use`);
  });
}

/** Plugs the node whose namespaces `holder` keeps open into the bridge. */
export function connectNode(tag: string, index: number, holder: number, addresses: NodeAddresses): void {
  const plug = `${tag}n${index}`;
  ip("link", "add", plug, "type", "veth", "peer", "name", "eth0", "netns", String(holder));
  ip("link", "set", plug, "master", tag, "up");
  const inside = [
    "ip link set lo up",
    `ip address add ${addresses.node}/16 dev eth0`,
    "ip link set eth0 up",
    `ip route add default via ${addresses.host}`,
    "echo 1 > /proc/sys/net/ipv4/ip_forward",
    "echo 1 > /proc/sys/net/ipv4/conf/eth0/proxy_arp",
    "echo 0 > /proc/sys/net/ipv4/neigh/eth0/proxy_delay", // the answer would otherwise wait for up to a second
  ];
  execFileSync("nsenter", ["-t", String(holder), "-n", "sh", "-ec", inside.join("\n")], { stdio: "pipe" });
}

/** Removes all devices of the cluster, or those of one node. Those of nodes may already be gone with the node. */
export function removeNetwork(tag: string, index?: number): void {
  const ours = Object.keys(allDevices()).filter((name) =>
    index === undefined ? name === tag || name.startsWith(`${tag}n`) : name === `${tag}n${index}`,
  );
  for (const name of ours) {
    try {
      ip("link", "delete", name);
    } catch (error) {
      if (name in allDevices()) throw error;
    }
  }
}

/** The names of all devices, also of those that are down and have no address. */
function allDevices(): Record<string, true> {
  try {
    const links = JSON.parse(ip("-json", "link", "show")) as { ifname: string }[];
    return Object.fromEntries(links.map((link) => [link.ifname, true]));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {}; // no iproute2: then we made no devices either
    throw error;
  }
}

function usedPrefixes(): Set<string> {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []);
  const routes = (JSON.parse(ip("-json", "route", "show")) as { dst: string }[]).map(({ dst }) => dst);
  return new Set([...addresses, ...routes].map((address) => address.split(".").slice(0, 2).join(".")));
}

function ip(...args: string[]): string {
  return execFileSync("ip", args, { encoding: "utf8", stdio: "pipe" });
}
