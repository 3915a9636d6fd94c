/** Emptying a node before it goes: no new pods, and the old ones evicted as `kubectl drain` does it. */
import { type Api, ApiError, ignoreReason, type KubeObject } from "../api.ts";
import { poll } from "../clock.ts";
import { ClusterError } from "../errors.ts";

const TOO_MANY_REQUESTS = 429; // a disruption budget says: not yet

/** Cordons the node and evicts its pods; returns when none is left. */
export async function drain(api: Api, node: string, signal?: AbortSignal): Promise<void> {
  await api.mergePatch(`/api/v1/nodes/${node}`, { spec: { unschedulable: true } });
  const empty = await poll(
    async () => {
      const pods = await podsOn(api, node, signal);
      if (pods.length === 0) return true;
      await Promise.all(pods.filter((pod) => !pod.metadata.deletionTimestamp).map((pod) => evict(api, pod)));
      return undefined;
    },
    { timeoutMs: 300_000, intervalMs: 200, signal },
  );
  if (!empty) {
    const left = (await podsOn(api, node)).map((pod) => pod.metadata.name).join(", ");
    throw new ClusterError("BERTH_CLUSTER_COMPONENT_NOT_READY", `node ${node} still has pods after 5 minutes: ${left}`);
  }
}

/** The pods that have to go; a DaemonSet's would only come back. */
async function podsOn(api: Api, node: string, signal?: AbortSignal): Promise<KubeObject[]> {
  const pods = await api.list(`/api/v1/pods?fieldSelector=spec.nodeName%3D${encodeURIComponent(node)}`, signal);
  return pods.filter((pod) => !pod.metadata.ownerReferences?.some(({ kind }) => kind === "DaemonSet"));
}

async function evict(api: Api, { metadata: { namespace, name } }: KubeObject): Promise<void> {
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace, name } };
  await api.create(`/api/v1/namespaces/${namespace}/pods/${name}/eviction`, eviction).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === TOO_MANY_REQUESTS) return; // asked again at the next round
    ignoreReason("NotFound")(error);
  });
}
