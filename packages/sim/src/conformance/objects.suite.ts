/** What the server makes of objects of its own kinds, what it refuses, and what may change. */
import { type Changed, changedJobs, changedObjects, changedPods } from "./examples/changes.ts";
import { created } from "./examples/created.ts";
import { collectionOf, type Example, HERE } from "./examples/example.ts";
import { normalised, verdict } from "./examples/normalised.ts";
import { Recorded } from "./examples/recorded.ts";
import { refusedObjects } from "./examples/refused-objects.ts";
import { refusedPods } from "./examples/refused-pods.ts";
import { Subject, send } from "./patching.ts";
import { suite } from "./suite.ts";
import type { Target } from "./target.ts";

/** Nothing is stored: none of them is in the other's way. */
const PRETENDED = "?dryRun=All&fieldValidation=Strict";

const made = Recorded.of("created");
const refused = Recorded.of("refused");
const changed = Recorded.of("changes");

/** One namespace for all examples: they are only pretended. */
const namespaces = new WeakMap<Target, Promise<string>>();
function shared(target: Target): Promise<string> {
  const known = namespaces.get(target) ?? target.namespace();
  namespaces.set(target, known);
  return known;
}

export const objects = suite("Objects", (it, target) => {
  for (const { title, kind, object } of created) {
    it(`${title} is completed`, async () => {
      const namespace = await shared(target());
      const text = JSON.stringify(object).replaceAll(HERE, namespace);
      const { body } = await send(target(), "POST", collectionOf(kind, namespace) + PRETENDED, text);
      made.check(title, normalised(body, namespace), target());
    });
  }

  const check = ({ title, kind, object }: Example) =>
    it(`refused: ${title}`, async () => {
      const namespace = await shared(target());
      const reply = await send(target(), "POST", collectionOf(kind, namespace) + PRETENDED, object);
      refused.check(title, verdict(reply, namespace), target());
    });
  for (const example of [...refusedPods, ...refusedObjects]) check(example);

  const change = ({ title, kind, object, changes }: Changed) =>
    it(`what may change of ${title}`, async () => {
      const namespace = await target().namespace();
      const name = kind.namespaced ? "it" : `${namespace}-it`;
      const subject = new Subject(target(), collectionOf(kind, namespace), name);
      const metadata = { ...(object.metadata as object), name };
      await subject.create({ ...object, metadata });
      const answers: Record<string, unknown> = {};
      for (const [what, patch] of changes) {
        const reply = await subject.patch("merge", patch, "?dryRun=All");
        answers[what] = verdict(reply, namespace);
      }
      await subject.delete();
      changed.check(title, answers, target());
    });
  for (const example of [...changedPods, ...changedJobs, ...changedObjects]) change(example);
});
