/** Nodes of a real control plane that KWOK speaks for, or does not. */
import { type Client, type Clock, coreV1, microTime } from "@berth/kube";
import type { Target } from "../target.ts";

const SPOKEN_FOR = "kwok.x-k8s.io/node";

export function kwokNodes(
  client: Client,
  clock: Clock,
): Pick<Target, "addNode" | "removeNode" | "breakNode" | "mendNode"> {
  const say = async (name: string, speaks: boolean) => {
    // A kubelet that is not well would say so itself; KWOK would say the contrary.
    const annotations = { [SPOKEN_FOR]: speaks ? "fake" : null };
    await client.patch(coreV1.Node, { name }, { merge: { metadata: { annotations } } });
    const lastTransitionTime = microTime(clock.now());
    const ready = { type: "Ready", status: speaks ? "True" : "False", reason: "Test", message: "", lastTransitionTime };
    await client.status.patch(coreV1.Node, { name }, { strategic: { status: { conditions: [ready] } } });
  };
  return {
    addNode: async (name, labels) => {
      const resources = { cpu: "8", memory: "32Gi", pods: "110" };
      await client.create(coreV1.Node, {
        metadata: {
          name,
          labels: { "kubernetes.io/hostname": name, ...labels },
          annotations: { [SPOKEN_FOR]: "fake" },
        },
        status: { capacity: resources, allocatable: resources },
      });
    },
    removeNode: async (name) => void (await client.delete(coreV1.Node, { name })),
    breakNode: (name) => say(name, false),
    mendNode: (name) => say(name, true),
  };
}
