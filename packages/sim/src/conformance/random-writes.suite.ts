/**
 * Many writes of all kinds, in random order, to one object: after each of them it is the same here and there, and the same
 * managers own the same fields. `FUZZ_ROUNDS` gives more of them, `FUZZ_SEED` others.
 */
import { SeededRandom } from "@berth/kube";
import { expect } from "vitest";
import type { JsonObject } from "../api/json.ts";
import { send, serveThings } from "./patching.ts";
import { configMaps, deployments, nextWrite, things, types, type Writable } from "./random-writes.ts";
import { suite } from "./suite.ts";
import type { Target } from "./target.ts";
import { comparable, WriteModel } from "./write-model.ts";

export const randomWrites = suite("Random writes", (it, target) => {
  const { FUZZ_ROUNDS = "3", FUZZ_SEED = "apply" } = process.env;
  for (const kind of [configMaps, deployments, things]) {
    for (let round = 0; round < Number(FUZZ_ROUNDS); round++) {
      const seed = `${FUZZ_SEED} ${kind.kind} ${round}`;
      it(`to a ${kind.kind} (${seed})`, async () => {
        if (kind === things) await serveThings(target());
        await compareWrites(target(), kind, seed);
      });
    }
  }
});

const WRITES = 25;

async function compareWrites(target: Target, kind: Writable, seed: string): Promise<void> {
  const random = new SeededRandom(seed);
  const model = new WriteModel(kind);
  const collection = kind.path(await target.namespace());
  const name = "it";
  /** How it is there, and in the model. */
  let [there, here]: (JsonObject | undefined)[] = [];
  for (let count = 0; count < WRITES; count++) {
    const write = nextWrite(random, kind, name, here);
    const path = collection + (write.method === "POST" ? "" : `/${name}`) + write.where;
    const reply = await send(target, write.method, path, write.body(there), write.type);
    const expected = model.send(write, name, here);
    const what = `${count}: ${write.method} ${write.where} ${write.type} ${JSON.stringify(write.body(here))}`;
    expect({ what, answer: comparable(reply, kind) }).toEqual({ what, answer: comparable(expected, kind) });
    if (reply.status < 300) [there, here] = [reply.body, expected.body];
  }
  await send(target, "PATCH", `${collection}/${name}`, { metadata: { finalizers: null } }, types.merge);
  await send(target, "DELETE", `${collection}/${name}`);
}
