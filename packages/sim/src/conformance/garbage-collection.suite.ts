/** What becomes of objects when those go that they belong to. */
import { coreV1, type ObjectMeta, type OwnerReference } from "@berth/kube";
import { expect } from "vitest";
import { suite } from "./suite.ts";
import { eventually } from "./workload-world.ts";

const { ConfigMap } = coreV1;
const HELD = ["conformance.berth.dev/held"];

const by = ({ metadata }: coreV1.ConfigMap, more: Partial<OwnerReference> = {}): OwnerReference => ({
  ...{ apiVersion: "v1", kind: "ConfigMap", name: metadata.name ?? "", uid: metadata.uid ?? "" },
  ...more,
});

export const garbageCollection = suite("garbage collection", (it, target) => {
  const world = async () => {
    const { client } = target();
    const namespace = await target().namespace();
    const create = (name: string, owners: OwnerReference[] = [], more: ObjectMeta = {}) =>
      client.create(ConfigMap, {
        metadata: { name, namespace, ...(owners.length > 0 && { ownerReferences: owners }), ...more },
      });
    const find = (name: string) => client.find(ConfigMap, { namespace, name });
    const gone = (name: string) =>
      eventually(`the end of ${name}`, async () => ((await find(name)) ? undefined : true));
    const until = (name: string, holds: (found: coreV1.ConfigMap) => boolean) =>
      eventually(name, async () => {
        const found = await find(name);
        return found && holds(found) ? found : undefined;
      });
    const remove = (name: string, propagationPolicy: "Background" | "Foreground" | "Orphan" = "Background") =>
      client.delete(ConfigMap, { namespace, name }, { propagationPolicy });
    const release = (name: string) =>
      client.patch(ConfigMap, { namespace, name }, { merge: { metadata: { finalizers: null } } });
    return { client, namespace, create, find, gone, until, remove, release };
  };
  const leaves = ({ metadata }: coreV1.ConfigMap) => metadata.deletionTimestamp !== undefined;

  it("takes everything that belonged to an object, and what belonged to that", async () => {
    const { create, gone, remove, find } = await world();
    const owner = await create("owner");
    const child = await create("child", [by(owner)]);
    await create("grandchild", [by(child)]);
    await create("other");
    await remove("owner");
    await Promise.all(["owner", "child", "grandchild"].map(gone));
    expect(await find("other")).toBeDefined();
  });

  it("keeps what belongs to somebody else too, and forgets the one who went", async () => {
    const { create, until, gone, remove } = await world();
    const [a, b] = [await create("a"), await create("b")];
    await create("child", [by(a), by(b)]);
    await remove("a");
    const child = await until("child", ({ metadata }) => metadata.ownerReferences?.length === 1);
    expect(child.metadata.ownerReferences).toEqual([by(b)]);
    await remove("b");
    await gone("child");
  });

  it("takes what belongs to nobody who is there: by uid, by name, by namespace", async () => {
    const { client, create, gone, find } = await world();
    const owner = await create("owner");
    const other = await target().namespace();
    const elsewhere = await client.create(ConfigMap, { metadata: { name: "elsewhere", namespace: other } });
    await create("by-uid", [by(owner, { uid: "00000000-0000-0000-0000-000000000000" })]);
    await create("by-name", [by(owner, { name: "never" })]);
    await create("by-namespace", [by(elsewhere)]);
    await Promise.all(["by-uid", "by-namespace"].map(gone));
    expect(await find("owner")).toBeDefined();
  });

  it("keeps what belongs to an object without a namespace, as long as that is there", async () => {
    const { client, create, find, gone, namespace } = await world();
    const cluster = await client.create(coreV1.Namespace, { metadata: { name: `${namespace}-owner` } });
    const { name = "", uid = "" } = cluster.metadata;
    await create("child", [{ apiVersion: "v1", kind: "Namespace", name, uid }]);
    await create("absent", [{ apiVersion: "v1", kind: "Namespace", name: "never", uid: `${uid}0` }]);
    await gone("absent");
    expect(await find("child")).toBeDefined();
    await client.delete(coreV1.Namespace, { name });
    await gone("child");
  });

  it("lets an owner wait for those who block it, and not for others", async () => {
    const { create, until, gone, remove, release, find } = await world();
    const owner = await create("owner");
    await create("blocking", [by(owner, { blockOwnerDeletion: true })], { finalizers: HELD });
    await create("other", [by(owner)], { finalizers: HELD });
    await remove("owner", "Foreground");
    const waiting = await until("owner", leaves);
    expect(waiting.metadata.finalizers).toEqual(["foregroundDeletion"]);
    await Promise.all([until("blocking", leaves), until("other", leaves)]);
    await release("blocking");
    await gone("owner");
    expect(await find("other")).toBeDefined();
    await release("other");
  });

  it("lets those in between wait for theirs", async () => {
    const { create, until, gone, remove, release } = await world();
    const owner = await create("owner");
    const child = await create("child", [by(owner, { blockOwnerDeletion: true })]);
    await create("grandchild", [by(child, { blockOwnerDeletion: true })], { finalizers: HELD });
    await remove("owner", "Foreground");
    const between = await until("child", leaves);
    expect(between.metadata.finalizers).toEqual(["foregroundDeletion"]);
    await release("grandchild");
    await Promise.all(["owner", "child", "grandchild"].map(gone));
  });

  it("leaves orphans behind, who forget their owner", async () => {
    const { create, until, gone, remove } = await world();
    const owner = await create("owner");
    await create("child", [by(owner, { blockOwnerDeletion: true, controller: true })]);
    await remove("owner", "Orphan");
    await gone("owner");
    const child = await until("child", ({ metadata }) => !metadata.ownerReferences);
    expect(child.metadata.deletionTimestamp).toBeUndefined();
  });

  it("takes what becomes somebody's who is not there", async () => {
    const { client, namespace, create, gone } = await world();
    const owner = await create("owner");
    await create("child");
    const ownerReferences = [by(owner, { uid: "00000000-0000-0000-0000-000000000000" })];
    await client.patch(ConfigMap, { namespace, name: "child" }, { merge: { metadata: { ownerReferences } } });
    await gone("child");
  });
});
