/** What is made of extenders' answers, right and wrong. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { Rejection } from "../rejection.ts";
import { nodeInfo, podInfo } from "../testing/samples.ts";
import { anyoneToPreempt, askToFilter, askToPreempt, askToPrioritize } from "./asking.ts";
import { configured, type Extender, type ExtenderSettings, isInterested } from "./extender.ts";
import { durationMs, HttpExtender, type HttpExtenderConfiguration } from "./http-extender.ts";
import { readBindingResult, readFilterResult, readPreemptionResult, readPriorities } from "./reading.ts";

const nodes = ["a", "b", "c"].map((name) => nodeInfo({ name }));
const { pod } = podInfo();
const extender = (given: Extender, settings: ExtenderSettings = {}) =>
  configured(given, { nodeCacheCapable: true, ...settings });

describe("filtering", () => {
  const filter = async (...extenders: ReturnType<typeof extender>[]) => {
    const notes: Record<string, Rejection> = {};
    const left = await askToFilter(extenders, pod, nodes, (node, rejection) => {
      notes[node] = rejection;
    });
    return { left: left.map(({ name }) => name), notes };
  };

  it("feeds each extender what the one before it has left, and stops when nothing is", async () => {
    const asked: (readonly string[] | null)[] = [];
    const one = (wanted: string[]) =>
      extender({
        filter: async ({ NodeNames }) => {
          asked.push(NodeNames);
          return { NodeNames: (NodeNames ?? []).filter((name) => wanted.includes(name)) };
        },
      });
    expect((await filter(one(["a", "b"]), one(["b", "c"]))).left).toEqual(["b"]);
    expect(asked).toEqual([
      ["a", "b", "c"],
      ["a", "b"],
    ]);
    asked.length = 0;
    expect((await filter(one([]), one(["a"]))).left).toEqual([]);
    expect(asked).toEqual([["a", "b", "c"]]);
  });

  it("takes note of why not, and believes that it is hopeless if that is said too", async () => {
    const { notes } = await filter(
      extender({
        filter: async () => ({
          NodeNames: [],
          FailedNodes: { a: "later", b: "later" },
          FailedAndUnresolvableNodes: { b: "never", elsewhere: "what?" },
        }),
      }),
    );
    expect(notes).toEqual({
      a: { reasons: ["later"], resolvable: true },
      b: { reasons: ["never"], resolvable: false },
      elsewhere: { reasons: ["what?"], resolvable: false },
    });
  });

  it("takes no answer for no nodes", async () => {
    expect((await filter(extender({ filter: async () => ({}) }))).left).toEqual([]);
  });

  it("asks only who filters", async () => {
    expect((await filter(extender({ prioritize: async () => [] }))).left).toEqual(["a", "b", "c"]);
  });

  it("refuses nodes that were not asked about", async () => {
    const made = extender({ name: "x", filter: async () => ({ NodeNames: ["z"] }) });
    await expect(filter(made)).rejects.toThrow(
      'extender "x" claims a filtered node "z" which is not found in the input node list',
    );
  });

  it("fails with an extender, unless it may fail", async () => {
    const broken = (ignorable: boolean) => extender({ filter: async () => ({ Error: "broken" }) }, { ignorable });
    await expect(filter(broken(false))).rejects.toThrow("broken");
    expect((await filter(broken(true))).left).toEqual(["a", "b", "c"]);
  });

  it("sends nodes in full to who does not know them, and takes them back without their pods", async () => {
    const full = [nodeInfo({ name: "a" }, [podInfo({ requests: { cpu: "1" } })])];
    const made = extender({ filter: async ({ Nodes }) => ({ Nodes }) }, { nodeCacheCapable: false });
    const [node] = await askToFilter([made], pod, full, () => {});
    expect(node).toMatchObject({ name: "a", usedCpu: 0, cpu: 4000 });
  });
});

describe("scores", () => {
  it("are added by their weight, ten times", async () => {
    const scores = (...list: [string, number][]) => ({
      prioritize: async () => list.map(([Host, Score]) => ({ Host, Score })),
    });
    const result = await askToPrioritize(
      [
        extender(scores(["a", 1], ["b", 2]), { weight: 3 }),
        extender(scores(["b", 100]), { weight: 1 }),
        extender({ prioritize: () => Promise.reject(new Error("no")) }, { weight: 1 }),
        extender({}),
      ],
      pod,
      nodes,
    );
    expect(Object.fromEntries(result)).toEqual({ a: 30, b: 1060, c: 0 });
  });
});

describe("preemption", () => {
  const victim = podInfo({ name: "victim" });
  const other = podInfo({ name: "other" });
  const node = nodeInfo({ name: "a" }, [victim, other]);
  const candidates = [{ node: "a", victims: [victim], violations: 2 }];
  const ask = async (answer: object, settings: ExtenderSettings = {}) =>
    askToPreempt([extender({ name: "x", preempt: async () => answer }, settings)], pod, candidates, (name) =>
      name === "a" ? node : undefined,
    );
  const meta = (...uids: string[]) => ({
    NodeNameToMetaVictims: { a: { Pods: uids.map((UID) => ({ UID })), NumPDBViolations: 1 } },
  });

  it("goes by what the extender says, whatever was proposed", async () => {
    expect(await ask(meta(other.uid))).toEqual([{ node: "a", victims: [other], violations: 1 }]);
    expect(await ask({})).toEqual([]);
  });

  it("refuses who and what is not there", async () => {
    await expect(ask(meta("nobody"))).rejects.toThrow(
      "extender: x claims to preempt pod (UID: &{nobody}) on node: a, but the pod is not found on that node",
    );
    await expect(ask({ NodeNameToMetaVictims: { z: { Pods: [], NumPDBViolations: 0 } } })).rejects.toThrow(
      'nodeinfo not found for node name "z"',
    );
    await expect(ask(meta())).rejects.toThrow('expected at least one victim pod on node "a"');
    expect(await ask(meta(), { ignorable: true })).toEqual([]);
    expect(await ask(meta("nobody"), { ignorable: true })).toEqual(candidates);
  });

  it("asks whoever has an opinion and an interest", () => {
    const managed = { managedResources: [{ name: "a/b" }] };
    expect(anyoneToPreempt([extender({})], pod)).toBe(false);
    expect(anyoneToPreempt([extender({ preempt: async () => ({}) })], pod)).toBe(true);
    expect(anyoneToPreempt([extender({ preempt: async () => ({}) }, managed)], pod)).toBe(false);
  });
});

it("knows whose affair a pod is", () => {
  const made = extender({}, { managedResources: [{ name: "a/b" }] });
  const asks = (spec: object) => isInterested(made, podInfo({ spec }).pod);
  expect(asks({ containers: [{ name: "x", resources: { limits: { "a/b": "1" } } }] })).toBe(true);
  expect(asks({ containers: [], initContainers: [{ name: "x", resources: { requests: { "a/b": "1" } } }] })).toBe(true);
  expect(asks({ containers: [{ name: "x", resources: { requests: { cpu: "1" } } }] })).toBe(false);
});

describe("reading answers", () => {
  it("does not mind upper and lower case, nor what is left out", () => {
    expect(readFilterResult({ nodenames: ["a"], failedNODES: { b: "no" } })).toMatchObject({
      NodeNames: ["a"],
      FailedNodes: { b: "no" },
      Nodes: null,
    });
    expect(readPriorities([{ host: "a", score: 3 }, {}])).toEqual([
      { Host: "a", Score: 3 },
      { Host: "", Score: 0 },
    ]);
    expect(readPriorities(null)).toEqual([]);
    expect(readPreemptionResult({ nodeNameToMetaVictims: { n: { pods: [{ uid: "u" }] } } })).toEqual({
      NodeNameToMetaVictims: { n: { Pods: [{ UID: "u" }], NumPDBViolations: 0 } },
    });
    expect(readBindingResult({})).toEqual({ Error: "" });
  });

  it("understands anything, or says that it does not", () => {
    for (const read of [readFilterResult, readPriorities, readPreemptionResult, readBindingResult]) {
      fc.assert(
        fc.property(fc.jsonValue(), (answer) => {
          try {
            read(answer);
          } catch (error) {
            expect(String(error)).toMatch(/^Error: json: cannot unmarshal/);
          }
        }),
      );
    }
  });
});

describe("over HTTP", () => {
  let server: Server | undefined;
  const open: HttpExtender[] = [];
  afterEach(() => {
    for (const each of open.splice(0)) each.close();
    server?.closeAllConnections();
    server?.close();
    server = undefined;
  });
  const listen = async (answer: (path: string, body: unknown) => string | number | undefined) => {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const reply = answer(request.url ?? "", JSON.parse(Buffer.concat(chunks).toString()));
      if (reply === undefined) return; // never
      response.statusCode = typeof reply === "number" ? reply : 200;
      response.end(typeof reply === "number" ? "" : reply);
    });
    await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const made = (configuration: HttpExtenderConfiguration) => {
    const result = new HttpExtender(configuration);
    open.push(result);
    return result;
  };
  const args = { Pod: pod, Nodes: null, NodeNames: ["a"] };

  it("posts JSON to the verb after the prefix", async () => {
    const asked: unknown[] = [];
    const url = await listen((path, body) => {
      asked.push([path, body]);
      return '{"NodeNames":["a"]}';
    });
    const http = made({ urlPrefix: `${url}/v1/`, filterVerb: "sift" });
    expect(await http.filter?.(args)).toMatchObject({ NodeNames: ["a"] });
    expect(asked).toEqual([["/v1/sift", JSON.parse(JSON.stringify(args))]]);
    expect([http.prioritize, http.preempt, http.bind]).toEqual([undefined, undefined, undefined]);
  });

  it("takes only 200 for an answer, and only JSON", async () => {
    const answers = [503, "", "not json"];
    const url = await listen(() => answers.shift());
    const http = made({ urlPrefix: url, filterVerb: "filter" });
    await expect(http.filter?.(args)).rejects.toThrow(`failed filter with extender at URL ${url}/filter, code 503`);
    await expect(http.filter?.(args)).rejects.toThrow("EOF");
    await expect(http.filter?.(args)).rejects.toThrow(SyntaxError);
  });

  it("does not wait for ever", async () => {
    const url = await listen(() => undefined);
    const http = made({ urlPrefix: url, filterVerb: "filter", httpTimeout: "20ms" });
    await expect(http.filter?.(args)).rejects.toThrow(
      `Post "${url}/filter": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    );
  });

  it("says that nobody is there", async () => {
    const url = await listen(() => "");
    server?.close();
    const http = made({ urlPrefix: url, filterVerb: "filter" });
    const { host } = new URL(url);
    await expect(http.filter?.(args)).rejects.toThrow(
      `Post "${url}/filter": dial tcp ${host}: connect: connection refused`,
    );
  });

  it("reads durations as Go writes them", () => {
    expect(["5s", "1m30s", "100ms", "1.5h", "0"].map(durationMs)).toEqual([5000, 90_000, 100, 5_400_000, 0]);
    for (const wrong of ["", "5", "s", "5 s", "5x"]) expect(() => durationMs(wrong)).toThrow(RangeError);
  });
});
