/** What people write with this package, as far as the compiler can judge it. None of it runs. */
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import {
  type Client,
  coreV1,
  defineResource,
  generationChanged,
  keyOf,
  type Manager,
  type ObjectOf,
  onUpdate,
  owned,
  type Result,
  watch,
  withCondition,
  withFinalizer,
} from "./index.ts";

const Website = defineResource({
  group: "example.org",
  version: "v1",
  kind: "Website",
  spec: z.object({ image: z.string(), replicas: z.int().default(1) }),
  status: z.object({
    pods: z.int().optional(),
    conditions: z
      .array(
        z.object({
          type: z.string(),
          status: z.enum(["True", "False", "Unknown"]),
          reason: z.string(),
          message: z.string(),
          lastTransitionTime: z.string(),
          observedGeneration: z.int().optional(),
        }),
      )
      .optional(),
  }),
});
type Website = ObjectOf<typeof Website>;

describe("types", () => {
  it("X3 are those of the kind, wherever an object comes from", () => {
    const read = async (client: Client) => {
      const site = await client.get(Website, { name: "x" });
      expectTypeOf(site.spec.replicas).toEqualTypeOf<number>();
      expectTypeOf(await client.find(coreV1.Pod, keyOf(site))).toEqualTypeOf<coreV1.Pod | undefined>();
      expectTypeOf((await client.list(Website)).items).toEqualTypeOf<Website[]>();
      // What has a default need not be written.
      await client.create(Website, { metadata: { name: "x" }, spec: { image: "i" } });
      // @ts-expect-error the image has no default
      await client.create(Website, { metadata: { name: "x" }, spec: {} });
      await client.status.update(Website, { ...site, status: { pods: 1 } });
      await client.update(Website, withFinalizer(site, "example.org/f"));
      await client.apply(Website, { metadata: { name: "x" }, spec: { replicas: 2 } });
      await client.list(coreV1.Pod, { labelSelector: { matchLabels: { app: "web" } } });
    };
    expectTypeOf(read).toBeFunction();
  });

  it("X3 reach predicates, mappers, reconcilers and conditions", () => {
    const add = (manager: Manager) =>
      manager.addController({
        for: Website,
        predicates: [generationChanged, onUpdate((old: Website, site) => old.spec.image !== site.spec.image)],
        owns: [coreV1.Service, owned(coreV1.Pod, { predicates: [({ object }) => object.status?.phase === "Failed"] })],
        watches: [
          watch(coreV1.Secret, (secret) => [{ namespace: secret.metadata.namespace, name: secret.data?.owner ?? "" }]),
          watch(coreV1.Node, async (_node, client) => (await client.list(Website)).items.map(keyOf)),
        ],
        async reconcile(request, { client, clock }): Promise<Result | undefined> {
          const site = await client.find(Website, request);
          if (!site) return;
          const ready = {
            type: "Ready",
            status: "True",
            reason: "AllUp",
            observedGeneration: site.metadata.generation,
          } as const;
          const conditions = withCondition(site.status?.conditions, ready, clock);
          await client.status.patch(Website, request, { merge: { status: { conditions } } });
          return { requeueAfter: 1000 };
        },
      });
    expectTypeOf(add).toBeFunction();
  });
});
