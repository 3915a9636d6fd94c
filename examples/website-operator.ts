/**
 * An operator in thirty lines: a Website gets its pods, and says how many it has.
 *
 *   node tools/with-node.mjs examples/website-operator.ts   # on the cluster that kubectl talks to
 */
import { apiextensionsV1, coreV1, defineResource, Manager, setupSignalHandler, withController } from "@berth/kube";
import { z } from "zod";

const Website = defineResource({
  group: "example.org",
  version: "v1",
  kind: "Website",
  spec: z.object({ image: z.string(), replicas: z.int().min(0).default(1) }),
  status: z.object({ pods: z.int().optional() }),
});

const manager = new Manager({ name: "website-operator", leaderElection: { id: "website-operator" } });
const events = manager.eventRecorder();
await manager.unfencedClient.apply(apiextensionsV1.CustomResourceDefinition, Website.crd());

manager.addController({
  for: Website,
  owns: [coreV1.Pod],
  async reconcile(request, { client }) {
    const site = await client.find(Website, request);
    if (!site) return; // deleted, and Kubernetes deletes its pods with it
    for (let i = 0; i < site.spec.replicas; i++) {
      const metadata = { namespace: request.namespace, name: `${request.name}-${i}` };
      if (await client.find(coreV1.Pod, metadata)) continue;
      const spec = { containers: [{ name: "web", image: site.spec.image }] };
      await client.create(coreV1.Pod, withController({ metadata, spec }, site));
      events.event(site, { reason: "PodCreated", note: `created pod ${metadata.name}` });
    }
    if (site.status?.pods === site.spec.replicas) return;
    await client.status.patch(Website, request, { merge: { status: { pods: site.spec.replicas } } });
  },
});

await manager.start({ signal: setupSignalHandler() });
