/** REST of jobs, on a whole embedded cluster. */
import { VirtualClock } from "@berth/kube";
import { BatchJob } from "@berth/model";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Embedded, eventually, jobManifest, startEmbedded } from "../testing/embedded.ts";

let world: Embedded;
const ask: Embedded["ask"] = (...asked) => world.ask(...asked);
beforeAll(async () => {
  world = await startEmbedded({ clock: new VirtualClock() });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const submit = async (name: string, seconds = 30) => {
  const { status, body } = await ask("POST", "/v1/jobs", jobManifest(name, seconds));
  expect([status, body.code]).toEqual([201, undefined]);
};
const schedule = async (name: string, job: string, slots: number[]) => {
  const spec = { testbed: { name: "main" }, slotBased: [{ name: job, slots }] };
  const { status, body } = await ask("POST", "/v1/schedulings", { metadata: { name }, spec });
  expect([status, body.code]).toEqual([201, undefined]);
};
const phase = (job: string, wanted: string) =>
  eventually(async () => (await ask("GET", `/v1/jobs/${job}`)).body.phase === wanted);

/** The operator has nothing left to write on it. */
const settled = (job: string) =>
  eventually(async () => {
    const { metadata, status } = (await ask("GET", `/v1/jobs/${job}/manifest`)).body;
    return status?.observedGeneration === metadata.generation;
  });

const YAML = `
apiVersion: berth.dev/v1alpha1
kind: BatchJob
metadata:
  name: yaml
  labels: {team: a, "stage": 'test'}
  annotations:
spec:
  executors: {preferred: 2}
  jobSpec: &spec
    template:
      spec:
        containers: [{name: main, image: busybox}]
---
`;

describe("to submit", () => {
  it("R1 takes the manifest that kubectl takes, as JSON or YAML, and puts the job into the queue", async () => {
    const json = await ask("POST", "/v1/jobs", jobManifest("json", 30));
    expect(json.status).toBe(201);
    expect(json.headers.get("location")).toBe("/v1/jobs/json");
    expect(json.body).toMatchObject({
      name: "json",
      kind: "job",
      phase: "Ready",
      waiting: true,
      slots: [],
      history: [],
    });
    for (const type of ["application/yaml", "text/yaml; charset=utf-8"]) {
      const text = YAML.replace("name: yaml", `name: yaml-${type.length}`);
      const { status, body } = await ask("POST", "/v1/jobs", text, { "content-type": type });
      expect(status).toBe(201);
      expect(body).toMatchObject({ labels: { team: "a", stage: "test" }, executors: { preferred: 2 }, waiting: true });
    }
  });

  it("R1 says when it was submitted, to the microsecond of its own clock, whatever the manifest says", async () => {
    const manifest = jobManifest("timed", 30);
    const annotations = { "berth.dev/submitted": "1999-01-01T00:00:00Z" };
    const { body } = await ask("POST", "/v1/jobs", { ...manifest, metadata: { name: "timed", annotations } });
    expect(body.submitted).toBeGreaterThanOrEqual(0);
    expect(Number.isInteger(body.submitted * 1e6)).toBe(true);
  });

  it("R1 takes a manifest that was read from a cluster: what is the cluster's own is left out", async () => {
    await submit("original");
    const { body: read } = await ask("GET", "/v1/jobs/original/manifest");
    expect(read.metadata).toHaveProperty("uid");
    expect(read.metadata).not.toHaveProperty("managedFields");
    const metadata = { ...read.metadata, name: "copy", finalizers: ["example.org/never"] };
    const { status, body } = await ask("POST", "/v1/jobs", { ...read, metadata });
    expect([status, body.name]).toEqual([201, "copy"]);
    const copy = await world.sim.client.get(BatchJob, { namespace: "default", name: "copy" });
    expect(copy.metadata.uid).not.toBe(read.metadata.uid);
    expect(copy.metadata.finalizers ?? []).not.toContain("example.org/never");
  });

  it.each([
    ["another kind", { kind: "Scheduling" }, "kind"],
    ["another version", { apiVersion: "berth.dev/v9" }, "apiVersion"],
    ["another namespace", { metadata: { name: "x", namespace: "other" } }, "metadata.namespace"],
    ["two kinds of applications", { spec: { jobSpec: {}, sparkSpec: {} } }, "exactly one of"],
    ["hints that contradict", { spec: { jobSpec: {}, executors: { min: 3, max: 2 } } }, "spec.executors"],
    ["a field that there is not", { spec: { jobSpec: {}, executor: { min: 3 } } }, "spec.executor"],
    ["a name that does not fit", { metadata: { name: "X_" } }, "metadata.name"],
    ["a label that cannot be", { metadata: { name: "x", labels: { "a b": "c" } } }, "metadata.labels"],
  ])("R2 refuses %s with the field: 422", async (_, wrong, field) => {
    const { status, body } = await ask("POST", "/v1/jobs", { ...jobManifest("wrong", 1), ...wrong });
    expect([status, body.code]).toEqual([422, "BERTH_MANIFEST_INVALID"]);
    expect(body.detail).toContain(field);
    expect(body.detail).not.toMatch(/<nil>|\/apis\//);
  });

  it.each([
    ["no name", { metadata: {} }, "body.metadata.name"],
    ["no spec", { spec: undefined }, "body.spec"],
    ["labels that are no texts", { metadata: { name: "x", labels: { a: 1 } } }, "body.metadata.labels.a"],
    ["annotations that are a text", { metadata: { name: "x", annotations: "abc" } }, "body.metadata.annotations"],
  ])("R2 refuses %s with the field: 400", async (_, wrong, field) => {
    const { status, body } = await ask("POST", "/v1/jobs", { ...jobManifest("wrong", 1), ...wrong });
    expect([status, body.code, body.errors[0].field]).toEqual([400, "BERTH_BODY_INVALID", field]);
  });

  it("R2 refuses a name that is taken", async () => {
    await submit("twice");
    const { status, body } = await ask("POST", "/v1/jobs", jobManifest("twice", 1));
    expect([status, body.code]).toEqual([409, "BERTH_ALREADY_EXISTS"]);
  });

  it("R2 says what types of bodies it takes", async () => {
    const { status, body } = await ask("POST", "/v1/jobs", "{}", { "content-type": "text/plain" });
    expect([status, body.code]).toEqual([415, "BERTH_MEDIA_TYPE_UNKNOWN"]);
    expect(body.detail).toContain("text/plain is not taken here; what is: application/json, application/yaml");
  });

  it("R3 shows at once what was written, and not what was deleted", async () => {
    await submit("quick");
    expect((await ask("GET", "/v1/jobs/quick")).status).toBe(200);
    expect((await ask("PATCH", "/v1/jobs/quick/data", { a: 1 })).status).toBe(200);
    expect((await ask("GET", "/v1/jobs/quick")).body.data).toEqual({ a: 1 });
    expect((await ask("DELETE", "/v1/jobs/quick")).status).toBe(204);
    const { status, body } = await ask("GET", "/v1/jobs/quick");
    expect([status, body.code, body.detail]).toEqual([404, "BERTH_NOT_FOUND", "there is no job quick"]);
  });
});

describe("external data", () => {
  it("R4 is changed by merge patch: null removes a field, and the rest stays", async () => {
    await submit("data");
    const type = { "content-type": "application/merge-patch+json" };
    await ask("PATCH", "/v1/jobs/data/data", { estimate: 61.5, deep: { a: 1, b: [1, 2] } }, type);
    const { status, body } = await ask("PATCH", "/v1/jobs/data/data", { estimate: null, deep: { b: [3] } }, type);
    expect([status, body.data]).toEqual([200, { deep: { a: 1, b: [3] } }]);
  });

  it("R4 is changed only if the job is what it was, if somebody wants that: one of two wins", async () => {
    await submit("contended");
    await settled("contended");
    const { headers, body: job } = await ask("GET", "/v1/jobs/contended");
    const etag = { "if-match": headers.get("etag") as string };
    const answers = await Promise.all(
      [1, 2].map((writer) => ask("PATCH", "/v1/jobs/contended/data", { writer }, etag)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
    expect(answers.find(({ status }) => status === 412)?.body.code).toBe("BERTH_CHANGED_MEANWHILE");
    // As good as the ETag is what is shown as `version`, with quotes or without.
    for (const quote of ['"', ""]) {
      await settled("contended");
      const { body } = await ask("GET", "/v1/jobs/contended");
      const match = { "if-match": `${quote}${body.version}${quote}` };
      expect((await ask("PATCH", "/v1/jobs/contended/data", { quote }, match)).status).toBe(200);
    }
    const old = await ask("PATCH", "/v1/jobs/contended/data", { writer: 5 }, { "if-match": `"${job.version}"` });
    expect(old.status).toBe(412);
    expect((await ask("PATCH", "/v1/jobs/contended/data", {}, { "if-match": "*" })).status).toBe(200);
  });

  it("R4 refuses an If-Match that cannot be one of ours, as it would one that is not so any more", async () => {
    await submit("matched");
    for (const etag of ["abc", '"1", "2"', '"x1"', '""']) {
      const { status, body } = await ask("PATCH", "/v1/jobs/matched/data", {}, { "if-match": etag });
      expect([status, body.code], etag).toEqual([412, "BERTH_CHANGED_MEANWHILE"]);
    }
  });

  it("R4 is an object, of a job that there is", async () => {
    for (const body of [[1], "null", '"a"', 5]) {
      expect((await ask("PATCH", "/v1/jobs/data/data", body)).body.code).toBe("BERTH_BODY_INVALID");
    }
    const { status, body } = await ask("PATCH", "/v1/jobs/nobody/data", {});
    expect([status, body.code]).toEqual([404, "BERTH_NOT_FOUND"]);
    const json = await ask("PATCH", "/v1/jobs/data/data", "[]", { "content-type": "application/json-patch+json" });
    expect(json.status).toBe(415);
    expect(json.body.detail).toContain("application/merge-patch+json");
  });
});

describe("what becomes of a job", () => {
  it("R5 is put back into the queue by a retry when it has ended, and its runs are there", async () => {
    await submit("again", 5);
    expect((await ask("POST", "/v1/jobs/again/retry")).body.waiting).toBe(true); // it is there already
    await schedule("first", "again", [0, 1]);
    const held = await ask("POST", "/v1/jobs/again/retry");
    expect([held.status, held.body.code]).toEqual([409, "BERTH_JOB_HELD"]);
    expect(held.body.detail).toContain("Scheduling first has again");
    await phase("again", "Completed");
    await eventually(async () => (await ask("GET", "/v1/jobs/again")).body.scheduling === undefined);
    // As `curl -X POST -d ''` would.
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const { status, body } = await ask("POST", "/v1/jobs/again/retry", "", form);
    expect([status, body.waiting]).toEqual([200, true]);
    await schedule("second", "again", [2]);
    await eventually(async () => (await ask("GET", "/v1/jobs/again/runs")).body.items.length === 2);
    const { body: runs } = await ask("GET", "/v1/jobs/again/runs");
    expect(runs.items).toMatchObject([
      { number: 2, outcome: "Completed", slots: [2], testbed: "main" },
      { number: 1, outcome: "Completed", slots: [0, 1], testbed: "main" },
    ]);
    expect((await ask("GET", "/v1/jobs/again")).body).toMatchObject({ waiting: false, phase: "Completed" });
  });

  it("R5 is retried only if it is what it was, if somebody wants that", async () => {
    await submit("careful");
    const { status, body } = await ask("POST", "/v1/jobs/careful/retry", undefined, { "if-match": '"1"' });
    expect([status, body.code]).toEqual([412, "BERTH_CHANGED_MEANWHILE"]);
    expect((await ask("POST", "/v1/jobs/nobody/retry")).body.code).toBe("BERTH_NOT_FOUND");
  });

  it("R6 is taken out of the Scheduling that has it by a release, and is in the queue again", async () => {
    await submit("long", 1e6);
    await schedule("holds", "long", [3]);
    await phase("long", "Running");
    const { body: wrong } = await ask("POST", "/v1/jobs/long/release", undefined, { "if-match": '"1"' });
    expect(wrong.code).toBe("BERTH_CHANGED_MEANWHILE");
    expect((await ask("POST", "/v1/jobs/long/release")).status).toBe(202);
    await eventually(async () => (await ask("GET", "/v1/jobs/long")).body.waiting === true);
    expect((await ask("GET", "/v1/jobs/long")).body).toMatchObject({ phase: "Ready", slots: [] });
    expect((await ask("POST", "/v1/jobs/long/release")).status).toBe(202); // nobody has it: nothing to do
    expect((await ask("POST", "/v1/jobs/nobody/release")).status).toBe(404);
  });

  it("R7 goes with its application when it is deleted; not if it has changed and that matters", async () => {
    await submit("doomed", 1e6);
    await schedule("dooms", "doomed", [3]);
    await phase("doomed", "Running");
    const { status, body } = await ask("DELETE", "/v1/jobs/doomed", undefined, { "if-match": '"1"' });
    expect([status, body.code]).toEqual([412, "BERTH_CHANGED_MEANWHILE"]);
    expect((await ask("DELETE", "/v1/jobs/doomed")).status).toBe(204);
    await eventually(async () => (await ask("GET", "/v1/jobs/doomed")).status === 404);
    await eventually(async () => (await ask("GET", "/v1/testbeds/main/slots?after=2")).body.items[0].state === "free");
    expect((await ask("DELETE", "/v1/jobs/doomed")).body.code).toBe("BERTH_NOT_FOUND");
  });

  it("R14 stays as it is when something is only tried", async () => {
    const tried = await ask("POST", "/v1/jobs?dryRun=true", jobManifest("tried", 1));
    expect([tried.status, tried.body.name]).toEqual([201, "tried"]);
    expect((await ask("GET", "/v1/jobs/tried")).status).toBe(404);
    expect((await ask("POST", "/v1/jobs?dryRun=true", { metadata: { name: "x" }, spec: {} })).status).toBe(422);
    await submit("kept");
    expect((await ask("DELETE", "/v1/jobs/kept?dryRun=true")).status).toBe(204);
    expect((await ask("GET", "/v1/jobs/kept")).status).toBe(200);
  });

  it("R15 does not change because of a parameter that there is not: it is refused, and nothing happens", async () => {
    await submit("typo");
    for (const [method, path] of [
      ["DELETE", "/v1/jobs/typo?dryrun=true"],
      ["DELETE", "/v1/jobs/typo?dryRun=yes"],
      ["DELETE", "/v1/jobs/typo?dryRun=true&dryRun=true"],
      ["POST", "/v1/jobs/typo/release?dryRun=true"],
      ["GET", "/v1/jobs/typo?x=1"],
      ["GET", "/v1/jobs?__proto__=1"],
    ] as const) {
      const { status, body } = await ask(method, path);
      expect([status, body.code], path).toEqual([400, "BERTH_BODY_INVALID"]);
    }
    expect((await ask("GET", "/v1/jobs/typo")).status).toBe(200);
  });
});
