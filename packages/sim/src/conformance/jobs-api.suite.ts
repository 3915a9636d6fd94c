/** What may be written to the status of jobs, nodes and budgets, and how jobs are told apart. */
import { batchV1, coreV1, policyV1 } from "@berth/kube";
import type { JsonObject } from "../api/json.ts";
import { container, selector } from "./examples/example.ts";
import { type Talk, talks } from "./examples/talk.ts";
import type { Subject } from "./patching.ts";
import { suite } from "./suite.ts";

const work = { containers: [container], restartPolicy: "Never" };
/** Somebody else looks after it: its status is ours. */
const job = (talk: Talk, name: string, spec: JsonObject = {}) =>
  talk.made(batchV1.Job, name, {
    spec: {
      managedBy: "conformance.berth.dev/nobody",
      completions: 3,
      parallelism: 2,
      template: { spec: work },
      ...spec,
    },
  });
const START = "2026-01-01T00:00:00Z";
const END = "2026-01-01T01:00:00Z";
const condition = (type: string) => ({ type, status: "True", lastTransitionTime: END, lastProbeTime: END });

export const jobsApi = suite("The status of jobs and others", (it, target) => {
  const talk = talks("statuses", it, target);
  const writing = (each: Talk, subject: Subject) => (what: string, status: JsonObject) =>
    each.hears(what, subject.patch("merge", { status }, "/status"));

  talk("a job counts what is", async (each) => {
    const it = await job(each, "it");
    const status = writing(each, it);
    await status("pods without a start", { active: 1 });
    await status("a start", { startTime: START, active: 2, ready: 1 });
    await status("less than nothing", { active: -1, ready: -1, succeeded: -1, failed: -1, terminating: -1 });
    await status("more ready than active", { active: 1, ready: 2 });
    await status("indexes where there are none", { completedIndexes: "0", failedIndexes: "1" });
    await status("another start", { startTime: END });
    await status("some succeed", { active: 1, ready: 0, succeeded: 1, uncountedTerminatedPods: {} });
    await status("fewer succeed", { succeeded: 0 });
    await status("counted twice", { uncountedTerminatedPods: { succeeded: ["a"], failed: ["a"] } });
    await status("an end without a condition", { completionTime: END });
    await status("complete, and yet not", { conditions: [condition("Complete")] });
    await status("complete and failed", { conditions: ["Complete", "Failed"].map(condition) });
    await status("done but not ended", {
      active: 0,
      succeeded: 3,
      uncountedTerminatedPods: null,
      conditions: [condition("Complete"), condition("SuccessCriteriaMet")],
    });
    await status("done", {
      active: 0,
      succeeded: 3,
      uncountedTerminatedPods: null,
      completionTime: END,
      conditions: [condition("SuccessCriteriaMet"), condition("Complete")],
    });
    await status("another end", { completionTime: START });
    await status("failed after all", { conditions: [condition("Failed")] });
    await status("undone", { conditions: null });
    await each.reads("what is there", it.get());
  });

  talk("a job with indexes counts them", async (each) => {
    const it = await job(each, "it", { completionMode: "Indexed", backoffLimitPerIndex: 1 });
    const status = writing(each, it);
    await status("some", { startTime: START, completedIndexes: "0", failedIndexes: "2", succeeded: 1 });
    await status("not as many as succeeded", { completedIndexes: "0-1", succeeded: 1 });
    await status("more than there are", { completedIndexes: "0-5", succeeded: 6 });
    await status("out of order", { completedIndexes: "1,0", succeeded: 2 });
    await status("both", { completedIndexes: "0,2", failedIndexes: "2", succeeded: 2 });
    await status("none that are", { completedIndexes: "x" });
  });

  talk("jobs are selected by how much they have done", async (each) => {
    const path = `/apis/batch/v1/namespaces/${each.namespace}/jobs`;
    await job(each, "a");
    await writing(each, await job(each, "b"))("done", { startTime: START, succeeded: 1 });
    for (const selector of ["status.successful=1", "status.successful=0", "metadata.name=a"]) {
      const { text } = await target().http("GET", `${path}?fieldSelector=${encodeURIComponent(selector)}`);
      const { items } = JSON.parse(text);
      each.shows(
        selector,
        items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
      );
    }
    await each.hears(
      "done elsewhere",
      each.subject(batchV1.Job, "a").patch("merge", { status: { active: -1 } }, "/status"),
    );
  });

  talk("a node says how it is", async (each) => {
    const name = `${each.namespace}-it`;
    const it = await each.made(coreV1.Node, name, { spec: { unschedulable: true } });
    const status = writing(each, it);
    await status("capacity", { capacity: { cpu: "4", memory: "8Gi" }, allocatable: { cpu: "3500m", memory: "7Gi" } });
    await status("half of a pod", { capacity: { pods: "1500m" } });
    await status("less than nothing", { capacity: { cpu: "-1" }, allocatable: { cpu: "-1" } });
    await status("conditions", { conditions: [{ type: "Ready", status: "True" }] });
    await status("addresses", { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] });
    await status("addresses twice", {
      addresses: [
        { type: "InternalIP", address: "10.0.0.1" },
        { type: "InternalIP", address: "10.0.0.1" },
      ],
    });
    await each.hears("nothing of the spec", it.patch("merge", { spec: { unschedulable: false } }, "/status"));
    const { body } = await it.get();
    each.shows("what is there", { unschedulable: body.spec.unschedulable, cpu: body.status.capacity.cpu });
    await it.delete();
  });

  talk("a budget counts", async (each) => {
    const it = await each.made(policyV1.PodDisruptionBudget, "it", { spec: { minAvailable: 1, selector } });
    const status = writing(each, it);
    await status("less than nothing", {
      disruptionsAllowed: -1,
      currentHealthy: -1,
      desiredHealthy: -1,
      expectedPods: -1,
    });
    await status("conditions", { conditions: [{ type: "a b", status: "Perhaps" }] });
  });
});
