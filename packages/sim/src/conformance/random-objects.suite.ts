/** Objects that were changed at random: a target accepts and refuses what our rules do, and completes it in the same way. */
import { pick, SeededRandom } from "@berth/kube";
import { expect } from "vitest";
import type { JsonObject } from "../api/json.ts";
import { changedJobs, changedObjects, changedPods } from "./examples/changes.ts";
import { created } from "./examples/created.ts";
import { collectionOf, type Example, HERE } from "./examples/example.ts";
import { normalised } from "./examples/normalised.ts";
import { ObjectModel } from "./object-model.ts";
import { type Reply, send } from "./patching.ts";
import { RandomObjects } from "./random-objects.ts";
import { suite } from "./suite.ts";
import type { Target } from "./target.ts";

/** More of them to look for differences; there are some, in corners that nobody looks into. */
const SEEDS = Number(process.env.BERTH_SEEDS ?? 3);
const FIRST = Number(process.env.BERTH_SEED ?? 1);
const OBJECTS = 40;
const PRETENDED = { dryRun: "All" };

/** What was found wrong, but not how that is worded. */
function comparable({ status, body }: Reply, namespace: string): unknown {
  if (status < 300) return normalised(body, namespace);
  const { code, reason, details } = body;
  const causes: readonly { reason: string; field?: string }[] = details?.causes ?? [];
  return { code, reason, causes: [...new Set(causes.map((cause) => `${cause.field}: ${cause.reason}`))].sort() };
}

const here = (object: JsonObject, namespace: string): JsonObject =>
  JSON.parse(JSON.stringify(object).replaceAll(HERE, namespace));

async function compareNew(target: Target, seed: number): Promise<void> {
  const namespace = await target.namespace();
  const model = new ObjectModel(namespace);
  const random = new SeededRandom(`new ${seed}`);
  const objects = new RandomObjects(random);
  for (let index = 0; index < OBJECTS; index++) {
    const { kind, object } = pick(random, created);
    const body = objects.changed(here(object, namespace), model.schemaOf(kind));
    const reply = await send(target, "POST", `${collectionOf(kind, namespace)}?dryRun=All`, body);
    const ours = model.create(kind, body, PRETENDED);
    const shown = JSON.stringify(body);
    expect({ shown, ...withAnswer(ours, namespace) }).toEqual({ shown, ...withAnswer(reply, namespace) });
  }
}

const withAnswer = (reply: Reply, namespace: string) => ({ answer: comparable(reply, namespace) });

/** Who else writes to them changes what is not compared. */
const settled = ({ status: _, ...object }: JsonObject, name: string): JsonObject => {
  const {
    uid: _uid,
    resourceVersion: _version,
    creationTimestamp: _time,
    generation: _count,
    ...metadata
  } = (object.metadata ?? {}) as JsonObject;
  return { ...object, metadata: { ...metadata, name } };
};

async function compareChanged(target: Target, seed: number): Promise<void> {
  const namespace = await target.namespace();
  const model = new ObjectModel(namespace);
  const random = new SeededRandom(`changed ${seed}`);
  const objects = new RandomObjects(random);
  const examples: readonly Example[] = [...changedPods, ...changedJobs, ...changedObjects];
  for (const [place, { kind, object }] of examples.entries()) {
    const name = `${kind.namespaced ? "" : `${namespace}-`}it-${place}`;
    const first = { ...object, metadata: { ...(object.metadata as JsonObject), name } };
    const theirs = await send(target, "POST", collectionOf(kind, namespace), first);
    const ours = model.create(kind, first);
    // What each was given is given back to it.
    const given = ({ body }: Reply): string[] => [body.metadata.uid, body.spec?.clusterIP ?? "no address"];
    const [their, our] = [given(theirs), given(ours)];
    for (let index = 0; index < 4; index++) {
      const body = settled(objects.changed(settled(ours.body, name), model.schemaOf(kind)), name);
      const text = our.reduce(
        (rest, each, index) => rest.replaceAll(each, their[index] as string),
        JSON.stringify(body),
      );
      const reply = await send(target, "PUT", `${collectionOf(kind, namespace)}/${name}?dryRun=All`, text);
      const answers = [model.update(kind, name, body, PRETENDED), reply].map((each) => {
        const { status, body } = each;
        return comparable(status < 300 ? { ...each, body: settled(body, name) } : each, namespace);
      });
      const shown = JSON.stringify(body);
      expect({ shown, answer: answers[0] }).toEqual({ shown, answer: answers[1] });
    }
    await send(target, "DELETE", `${collectionOf(kind, namespace)}/${name}?gracePeriodSeconds=0`);
  }
}

export const randomObjects = suite("Objects at random", (it, target) => {
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    it(`new, ${seed}`, () => compareNew(target(), seed));
    it(`changed, ${seed}`, () => compareChanged(target(), seed));
  }
});
