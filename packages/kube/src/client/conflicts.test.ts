import { describe, expect, it } from "vitest";
import { type KubernetesObject, kindOf } from "../objects/meta.ts";
import { ModelApi } from "../testing/model-api.ts";
import { ModelTransport } from "../testing/model-transport.ts";
import { VirtualClock } from "../time/clock.ts";
import { ApiError } from "../transport/api-error.ts";
import { Client } from "./client.ts";
import { createOrUpdate, retryOnConflict } from "./conflicts.ts";

interface Thing extends KubernetesObject {
  spec?: { value: number };
}

const Thing = kindOf<Thing>("example.org/v1", "Thing", "things");
const key = { namespace: "default", name: "a" };

describe("writing where others write", () => {
  it("P3 tries again when somebody was faster, but not for ever, and not after anything else", async () => {
    let tries = 0;
    const failing = (code: number, times: number) => async () => {
      if (tries++ < times) throw new ApiError({ code });
      return tries;
    };
    expect(await retryOnConflict(failing(409, 3))).toBe(4);
    tries = 0;
    await expect(retryOnConflict(failing(409, 100))).rejects.toMatchObject({ status: 409 });
    expect(tries).toBe(5);
    tries = 0;
    await expect(retryOnConflict(failing(422, 1))).rejects.toMatchObject({ status: 422 });
    expect(tries).toBe(1);
  });

  it("P4 creates, updates, or leaves alone, by what is there now", async () => {
    const clock = new VirtualClock();
    const model = new ModelApi({ clock });
    const client = new Client(new ModelTransport(model, { clock }), { clock });
    const set = (value: number) => (present: Thing | undefined) =>
      present?.spec?.value === value ? present : { ...(present ?? { metadata: key }), spec: { value } };
    expect(await createOrUpdate(client, Thing, key, set(1))).toMatchObject({ operation: "created" });
    expect(await createOrUpdate(client, Thing, key, set(1))).toMatchObject({ operation: "unchanged" });
    expect(await createOrUpdate(client, Thing, key, set(2))).toMatchObject({ operation: "updated" });

    // What it reads is old: somebody else has written since, or has created it, or deleted it.
    const stale = model.get(Thing, key);
    model.patch(Thing, key, { metadata: { labels: { theirs: "yes" } } });
    const behind = Object.assign(Object.create(client) as Client, {
      find: async (kind: typeof Thing, where: typeof key, { resourceVersion }: { resourceVersion?: string } = {}) =>
        resourceVersion === undefined ? stale : client.find(kind, where),
      create: client.create.bind(client),
      update: client.update.bind(client),
    });
    expect(await createOrUpdate(behind, Thing, key, set(3))).toMatchObject({
      operation: "updated",
      object: { spec: { value: 3 }, metadata: { labels: { theirs: "yes" } } },
    });
    model.delete(Thing, key);
    expect(await createOrUpdate(behind, Thing, key, set(4))).toMatchObject({ operation: "created" });
  });
});
