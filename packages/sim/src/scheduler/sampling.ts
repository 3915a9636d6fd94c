/** How many nodes are looked at: in a large cluster a good one will do, it need not be the best. Pure. */

const AT_LEAST = 100;
const AT_LEAST_PERCENT = 5;

/** @param percentage - 0 goes by the number of nodes: half of a hundred, a tenth of five thousand. */
export function nodesToFind(nodes: number, percentage: number): number {
  if (nodes < AT_LEAST) return nodes;
  const share = percentage === 0 ? Math.max(AT_LEAST_PERCENT, 50 - Math.floor(nodes / 125)) : percentage;
  return Math.max(AT_LEAST, Math.floor((nodes * share) / 100));
}
