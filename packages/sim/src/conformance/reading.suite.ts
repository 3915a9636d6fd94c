/** Lists and watches: what is in them, in which order, as of when, and what becomes of questions that make no sense. */
import { coreV1 } from "@berth/kube";
import { expect } from "vitest";
import { suite } from "./suite.ts";
import type { Target } from "./target.ts";

const { ConfigMap } = coreV1;

// biome-ignore lint/suspicious/noExplicitAny: answers have any shape
type Answer = any;

/** A namespace with config maps, and questions about them. */
async function library(target: Target) {
  const namespace = await target.namespace();
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const ask = async (query: Readonly<Record<string, string>> | string, at = path): Promise<Answer> => {
    const { status, text } = await target.http("GET", `${at}?${new URLSearchParams(query)}`);
    const body = JSON.parse(text);
    return status === 200 ? body : { status, reason: body.reason, message: body.message, causes: body.details?.causes };
  };
  /** Namespaces come with a config map of their own, which is not what this is about. */
  const list = (query: Readonly<Record<string, string>> = {}) =>
    ask({ fieldSelector: "metadata.name!=kube-root-ca.crt", ...query });
  const watch = async (query: Readonly<Record<string, string>>): Promise<Answer[]> => {
    const all = { watch: "true", timeoutSeconds: "1", fieldSelector: "metadata.name!=kube-root-ca.crt", ...query };
    const { status, text } = await target.http("GET", `${path}?${new URLSearchParams(all)}`);
    if (status !== 200) return [{ status, ...JSON.parse(text) }];
    const lines = text.split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line));
  };
  const create = (name: string, labels: Readonly<Record<string, string>> = {}) =>
    target.client.create(ConfigMap, { metadata: { name, namespace, labels } });
  const label = (name: string, labels: Readonly<Record<string, string | null>>) =>
    target.client.patch(ConfigMap, { namespace, name }, { merge: { metadata: { labels } } });
  const remove = (name: string) => target.client.delete(ConfigMap, { namespace, name });
  return { namespace, path, ask, list, watch, create, label, remove };
}

const namesIn = ({ items }: Answer): string[] => items.map((item: Answer) => item.metadata.name);
const told = (events: readonly Answer[]) => events.map(({ type, object }) => `${type} ${object.metadata?.name ?? ""}`);
const versionOf = ({ metadata }: Answer): string => metadata.resourceVersion;

export const reading = suite("Lists and watches", (it, target) => {
  it("a list comes in pages, which all show the same moment", async () => {
    const { ask, path, create, remove } = await library(target());
    for (const name of ["d", "a", "c", "b", "e"]) await create(name, { in: "list" });
    const query = { limit: "2", labelSelector: "in=list" };
    const first = await ask(query);
    expect(namesIn(first)).toEqual(["a", "b"]);
    // Who selects is not told how many there are.
    expect(first.metadata.remainingItemCount).toBeUndefined();
    await create("bb", { in: "list" });
    await remove("c");
    const second = await ask({ ...query, continue: first.metadata.continue });
    expect([namesIn(second), versionOf(second)]).toEqual([["c", "d"], versionOf(first)]);
    const third = await ask({ ...query, continue: second.metadata.continue });
    expect([namesIn(third), third.metadata.continue]).toEqual([["e"], undefined]);
    expect(namesIn(await ask({ labelSelector: "in=list" }, path))).toEqual(["a", "b", "bb", "d", "e"]);
  });

  it("a page says how many are left, if nobody selects", async () => {
    const { ask, create } = await library(target());
    for (const name of ["a", "b", "c"]) await create(name);
    const { metadata, items } = await ask({ limit: "1" });
    expect([items.length, metadata.remainingItemCount]).toEqual([1, 3]);
  });

  it("a list is as of the version that is asked for", async () => {
    const { list, create, remove } = await library(target());
    await create("a");
    const before = versionOf(await list());
    await create("b");
    await remove("a");
    expect(namesIn(await list())).toEqual(["b"]);
    expect(namesIn(await list({ resourceVersion: before, resourceVersionMatch: "NotOlderThan" }))).toEqual(["b"]);
    expect(namesIn(await list({ resourceVersion: "0" }))).toEqual(["b"]);
    const exact = await list({ resourceVersion: before, resourceVersionMatch: "Exact" });
    expect([namesIn(exact), versionOf(exact)]).toEqual([["a"], before]);
  });

  it("labels select", async () => {
    const { list, create } = await library(target());
    await create("a", { tier: "web", zone: "1" });
    await create("b", { tier: "db", zone: "2" });
    await create("c", { tier: "db" });
    const selected: [string, string[]][] = [
      ["tier=db", ["b", "c"]],
      ["tier==db,zone", ["b"]],
      ["tier!=db", ["a"]],
      ["!zone", ["c"]],
      ["zone!=1", ["b", "c"]],
      ["tier in (web, other),zone notin (2)", ["a"]],
      ["zone notin (1)", ["b", "c"]],
      ["zone>1", ["b"]],
      ["zone<2", ["a"]],
      ["tier=", []],
      ["", ["a", "b", "c"]],
    ];
    for (const [labelSelector, names] of selected) {
      expect([labelSelector, namesIn(await list({ labelSelector }))]).toEqual([labelSelector, names]);
    }
  });

  it("fields select, those that the kind has for it", async () => {
    const { namespace, ask, create } = await library(target());
    const { client } = target();
    await create("a");
    const containers = [{ name: "main", image: "none" }];
    const gated = { schedulingGates: [{ name: "berth.dev/wait" }], containers };
    await client.create(coreV1.Pod, { metadata: { name: "gated", namespace }, spec: gated });
    await client.create(coreV1.Pod, {
      metadata: { name: "bound", namespace },
      spec: { nodeName: "nowhere", containers },
    });
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const selected: [string, string, string[]][] = [
      [`/api/v1/configmaps`, `metadata.name=a,metadata.namespace=${namespace}`, ["a"]],
      [pods, "spec.nodeName=nowhere", ["bound"]],
      [pods, "spec.nodeName=", ["gated"]],
      [pods, "spec.nodeName!=nowhere,status.phase=Pending", ["gated"]],
      [pods, "spec.schedulerName=default-scheduler,spec.restartPolicy==Always", ["bound", "gated"]],
      [pods, "metadata.name=gated,metadata.name!=gated", []],
    ];
    for (const [path, fieldSelector, names] of selected) {
      expect([fieldSelector, namesIn(await ask({ fieldSelector }, path))]).toEqual([fieldSelector, names]);
    }
    // What is said of a kind's fields is the same in all words.
    expect(await ask({ fieldSelector: "data.x=1" })).toMatchObject({
      status: 400,
      reason: "BadRequest",
      message: '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    });
  });

  const senseless: [query: string, status: number, reason: string][] = [
    ["labelSelector=a+in", 400, "BadRequest"],
    ["labelSelector=a+in+(b", 400, "BadRequest"],
    ["labelSelector=-a", 400, "BadRequest"],
    ["labelSelector=a%3E(b)", 400, "BadRequest"],
    ["fieldSelector=metadata.name", 400, "BadRequest"],
    ["fieldSelector=a%3Db%3Dc", 400, "BadRequest"],
    ["limit=many", 400, "BadRequest"],
    ["timeoutSeconds=soon", 400, "BadRequest"],
    ["continue=nonsense", 400, "BadRequest"],
    ["resourceVersion=new", 400, "BadRequest"],
    ["resourceVersion=-1", 400, "BadRequest"],
    ["resourceVersion=1&resourceVersionMatch=Nearly", 422, "Invalid"],
    ["resourceVersionMatch=Exact", 422, "Invalid"],
    ["resourceVersion=0&resourceVersionMatch=Exact", 422, "Invalid"],
    ["resourceVersion=99999999999&resourceVersionMatch=NotOlderThan", 504, "Timeout"],
    ["sendInitialEvents=true", 422, "Invalid"],
    ["watch=true&sendInitialEvents=true", 422, "Invalid"],
    ["watch=true&resourceVersionMatch=NotOlderThan", 422, "Invalid"],
    ["watch=true&sendInitialEvents=true&resourceVersionMatch=Exact", 422, "Invalid"],
  ];
  for (const [query, status, reason] of senseless) {
    it(`refused: ${decodeURIComponent(query)}`, async () => {
      const { ask } = await library(target());
      expect(await ask(query)).toMatchObject({ status, reason });
    });
  }

  it("a watch begins with what is there, or with what has happened since a version", async () => {
    const { list, watch, create, label, remove } = await library(target());
    await create("a");
    const { metadata } = await create("b");
    const from = versionOf(await list());
    await label("a", { x: "1" });
    await remove("b");
    await create("c");
    expect(told(await watch({}))).toEqual(["ADDED a", "ADDED c"]);
    expect(told(await watch({ resourceVersion: "0" }))).toEqual(["ADDED a", "ADDED c"]);
    const since = await watch({ resourceVersion: from });
    expect(told(since)).toEqual(["MODIFIED a", "DELETED b", "ADDED c"]);
    // What is gone is shown as it was last, with the version of its end.
    const [, { object: gone }] = since;
    expect(gone.metadata.uid).toBe(metadata.uid);
    expect(Number(versionOf(gone))).toBeGreaterThan(Number(metadata.resourceVersion));
    expect(told(await watch({ resourceVersion: versionOf(since[2].object) }))).toEqual([]);
  });

  it("a watch can bring the list along, and says where it ends", async () => {
    const { list, watch, create } = await library(target());
    await create("a");
    await create("b");
    const options = { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" };
    const events = await watch({ ...options, allowWatchBookmarks: "true" });
    expect(told(events.slice(0, 3))).toEqual(["ADDED a", "ADDED b", "BOOKMARK "]);
    const { object: mark } = events[2];
    expect(mark.metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" });
    expect(mark.kind).toBe("ConfigMap");
    expect(Number(versionOf(mark))).toBeGreaterThanOrEqual(Number(versionOf((await list()).items[1])));
    // Nobody who does not want bookmarks gets this one.
    expect(told(await watch(options))).toEqual(["ADDED a", "ADDED b"]);
    const nothing = { sendInitialEvents: "false", resourceVersionMatch: "NotOlderThan" };
    expect(told(await watch(nothing))).toEqual([]);
  });

  it("a watch tells of what comes into its selection as added, and of what leaves it as deleted", async () => {
    const { list, watch, create, label } = await library(target());
    await create("a", { in: "no" });
    const from = versionOf(await list());
    await label("a", { in: "yes" });
    await label("a", { other: "1" });
    await label("a", { in: "no" });
    await label("a", { other: "2" });
    const events = await watch({ labelSelector: "in=yes", resourceVersion: from });
    expect(told(events)).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
    expect(events.map(({ object }) => object.metadata.labels)).toEqual([
      { in: "yes" },
      { in: "yes", other: "1" },
      { in: "yes", other: "1" },
    ]);
  });

  it("a watch from a version to come waits for it", async () => {
    const { watch, create } = await library(target());
    await create("a");
    expect(told(await watch({ resourceVersion: "99999999999" }))).toEqual([]);
  });
});
