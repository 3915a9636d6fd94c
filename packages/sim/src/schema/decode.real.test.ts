/** What we understand of a client's object, held to what the real API server understands of it. */
import { ApiError, type Cluster, startCluster } from "@berth/cluster";
import { pick, SeededRandom } from "@berth/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isObject, type JsonObject } from "../api/json.ts";
import { Refusal } from "../api/refusal.ts";
import type { Resource } from "../api/resource.ts";
import { builtinResources } from "../kinds/builtin.ts";
import { decode } from "./decode.ts";
import { type Mistakes, randomObject } from "./testing/random-object.ts";

const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? 600);
const SEED = process.env.FUZZ_SEED ?? "decode";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ name: `test-${process.pid}-decode`, nodes: 0 });
});
afterAll(() => cluster?.stop());

/** What a server made of an object: what it is then, or why it could not be read. */
type Outcome = { readonly object: JsonObject } | { readonly unread: string } | { readonly refused: string };

async function theirs(given: JsonObject, { group, version, plural, namespaced }: Resource): Promise<Outcome> {
  const base = group ? `/apis/${group}/${version}` : `/api/${version}`;
  const path = `${base}${namespaced ? "/namespaces/default" : ""}/${plural}?dryRun=All&fieldValidation=Strict`;
  try {
    return { object: await cluster.api.create<JsonObject>(path, given) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.reason === "BadRequest" ? { unread: error.message } : { refused: error.message };
  }
}

function ours(given: JsonObject, resource: Resource): Outcome {
  const unknown: string[] = [];
  try {
    const object = decode(given, resource, unknown) as JsonObject;
    const fields = unknown.map((field) => `unknown field "${field}"`).join(", ");
    return unknown.length > 0 ? { unread: `strict decoding error: ${fields}` } : { object };
  } catch (error) {
    if (error instanceof Refusal) return { unread: error.message };
    throw error;
  }
}

/** What decides for itself what it keeps, is only answered and not kept, or comes from others. */
const LEFT_OUT = ["bindings", "componentstatuses", "selfsubjectreviews", "tokenreviews"];

const resources = builtinResources().filter(
  ({ verbs, plural }) => verbs.includes("create") && verbs.includes("list") && !LEFT_OUT.includes(plural),
);

function generate(resource: Resource, random: SeededRandom, mistakes: Mistakes): JsonObject {
  const given = randomObject(resource.schema, random, mistakes);
  const { apiVersion, kind } = resource;
  const metadata = isObject(given.metadata) ? given.metadata : {};
  // These have rules of their own, apart from how they are read.
  delete given.stringData;
  for (const field of ["namespace", "resourceVersion", "generateName", "uid", "selfLink"]) delete metadata[field];
  return JSON.parse(JSON.stringify({ ...given, apiVersion, kind, metadata: { ...metadata, name: "x" } }));
}

/** What a kind's own rules change, whatever was given. */
const OWN_RULES: Readonly<Record<string, readonly string[]>> = {
  CSIDriver: ["spec.preventPodSchedulingIfMissing"],
  EndpointSlice: ["endpoints[0].deprecatedTopology", "endpoints[1].deprecatedTopology"],
  Lease: ["spec.strategy", "spec.preferredHolder"],
  Node: ["spec.taints", "spec.configSource"],
  ServiceAccount: ["secrets"],
};

/**
 * Where the two differ. What the server fills in by the kind's rules, and what it clears as it clears every status, is not
 * what this is about: everything that we have must be there, as we have it.
 */
function differences(mine: unknown, real: unknown, path: string, kind: string): string[] {
  if (["status", "metadata"].includes(path) || OWN_RULES[kind]?.includes(path)) return [];
  if (isObject(mine) && isObject(real)) {
    return Object.entries(mine).flatMap(([key, value]) =>
      differences(value, real[key], path ? `${path}.${key}` : key, kind),
    );
  }
  if (Array.isArray(mine) && Array.isArray(real) && mine.length === real.length) {
    return mine.flatMap((item, index) => differences(item, real[index], `${path}[${index}]`, kind));
  }
  // A default may stand where nothing was given.
  const isNothing = mine === null || mine === "" || mine === 0 || mine === false || mine === "0";
  if (isNothing && real !== undefined && real !== null) return [];
  return JSON.stringify(mine) === JSON.stringify(real)
    ? []
    : [`${path}: ${JSON.stringify(mine)} is ${JSON.stringify(real)}`];
}

describe("random objects of all kinds", () => {
  it("are unreadable here if and only if they are there, and for unknown fields in the same words", async () => {
    const random = new SeededRandom(`${SEED} mistakes`);
    const wrong: string[] = [];
    let unread = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const resource = pick(random, resources);
      const given = generate(
        resource,
        random,
        pick(random, [
          { wrongType: 0.01, unknown: 0 },
          { wrongType: 0, unknown: 0.02 },
        ]),
      );
      const [real, mine] = [await theirs(given, resource), ours(given, resource)];
      if ("unread" in real) unread++;
      const isSame =
        "unread" in real
          ? "unread" in mine && (!real.unread.includes("strict decoding") || real.unread.endsWith(mine.unread))
          : !("unread" in mine);
      if (!isSame)
        wrong.push(`${resource.kind} ${JSON.stringify(given)}\n  real: ${text(real)}\n  ours: ${text(mine)}`);
    }
    expect(wrong.slice(0, 15)).toEqual([]);
    expect(unread).toBeGreaterThan(ROUNDS / 20);
  });

  it("come out in the same form", async () => {
    const random = new SeededRandom(`${SEED} forms`);
    const wrong: string[] = [];
    const accepted = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round++) {
      const resource = pick(random, resources);
      const given = generate(resource, random, { wrongType: 0, unknown: 0 });
      const [real, mine] = [await theirs(given, resource), ours(given, resource)];
      if (!("object" in real)) continue;
      accepted.set(resource.kind, (accepted.get(resource.kind) ?? 0) + 1);
      const found = "object" in mine ? differences(mine.object, real.object, "", resource.kind) : [text(mine)];
      if (found.length > 0) wrong.push(`${resource.kind} ${JSON.stringify(given)}\n  ${found.join("\n  ")}`);
    }
    expect(wrong.slice(0, 15)).toEqual([]);
    expect([...accepted.keys()].length).toBeGreaterThan(10);
  });
});

function text(outcome: Outcome): string {
  return ("unread" in outcome ? outcome.unread : "refused" in outcome ? outcome.refused : "read").slice(0, 500);
}
