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
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ClusterError } from "../errors.ts";
import type { ClusterPlaces } from "../places.ts";
import { runSync } from "../process/command.ts";
import { withLock } from "../process/lock.ts";

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
  /** Always the same for the same node: others remember it, and would for a minute send to one that is gone. */
  readonly hardware: string;
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
    hardware: `02:00:00:00:00:${index.toString(16).padStart(2, "0")}`, // 02: given by us, not by a manufacturer
  };
}

/** Makes the cluster's bridge with a /16 that nothing on this machine uses; returns the first two numbers. */
export function createNetwork({ folder, tag, locks }: ClusterPlaces): Promise<string> {
  // The lock is for all clusters of this user: two that start at once must not choose the same addresses.
  return withLock(join(locks, "network"), async () => {
    const ip = (...args: string[]) => runSync(folder, "ip", args);
    const routes = JSON.parse(ip("-json", "-4", "route", "show", "table", "all")) as { dst: string }[];
    const taken = routes.map(({ dst }) => dst);
    for (let second = FIRST; second <= LAST; second++) {
      const prefix = `10.${second}`;
      if (taken.some((network) => overlaps(network, prefix))) continue;
      ip("link", "add", tag, "type", "bridge");
      ip("address", "add", `${prefix}.0.1/16`, "dev", tag);
      ip("link", "set", tag, "up");
      return prefix;
    }
    throw new ClusterError("BERTH_CLUSTER_NETWORK", `all of 10.${FIRST}.0.0/16 to 10.${LAST}.0.0/16 are in use`);
  });
}

/** Pure: whether a route ("10.0.0.0/8", "10.201.0.1", "default") leads into our /16. The default route is everyone's. */
export function overlaps(route: string, prefix: string): boolean {
  const [address = "", length = "32"] = route.split("/");
  const bits = Math.min(Number(length), 16);
  if (!/^[\d.]+$/.test(address) || bits === 0) return false;
  const number = (dotted: string) =>
    dotted.split(".").reduce((sum, part, index) => sum + Number(part) * 256 ** (3 - index), 0);
  const size = 2 ** (32 - bits);
  return Math.floor(number(address) / size) === Math.floor(number(prefix) / size);
}

/** Plugs the node whose namespaces `holder` keeps open into the bridge. */
export function connectNode(
  { folder, tag }: ClusterPlaces,
  index: number,
  holder: number,
  addresses: NodeAddresses,
): void {
  const plug = `${tag}n${index}`;
  const peer = ["peer", "name", "eth0", "address", addresses.hardware, "netns", String(holder)];
  runSync(folder, "ip", ["link", "add", plug, "type", "veth", ...peer]);
  runSync(folder, "ip", ["link", "set", plug, "master", tag, "up"]);
  const inside = [
    "ip link set lo up",
    `ip address add ${addresses.node}/16 dev eth0`,
    "ip link set eth0 up",
    `ip route add default via ${addresses.host}`,
    "echo 1 > /proc/sys/net/ipv4/ip_forward",
    "echo 1 > /proc/sys/net/ipv4/conf/eth0/proxy_arp",
    "echo 0 > /proc/sys/net/ipv4/neigh/eth0/proxy_delay", // the answer would otherwise wait for up to a second
  ];
  runSync(folder, "nsenter", ["-t", String(holder), "-n", "sh", "-ec", inside.join("\n")]);
}

/** Removes all devices of the cluster, or those of one node. Those of nodes may already be gone with the node. */
export function removeNetwork({ folder, tag }: ClusterPlaces, index?: number): void {
  const ours = devices().filter((name) =>
    index === undefined ? name === tag || name.startsWith(`${tag}n`) : name === `${tag}n${index}`,
  );
  for (const name of ours) {
    try {
      runSync(folder, "ip", ["link", "delete", name]);
    } catch (error) {
      if (devices().includes(name)) throw error;
    }
  }
}

/** The names of all devices, also of those that are down and have no address. */
function devices(): string[] {
  return readdirSync("/sys/class/net");
}
