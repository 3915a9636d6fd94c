/** What happens to pods once they are there: their status, how they are selected, and how they go. */
import { coreV1 } from "@berth/kube";
import { container } from "./examples/example.ts";
import { type Talk, talks } from "./examples/talk.ts";
import { suite } from "./suite.ts";

/** Nobody schedules it, and nothing is added to it. */
const quiet = { schedulerName: "nobody", automountServiceAccountToken: false, containers: [container] };
const pod = (talk: Talk, name: string, spec = {}, metadata = {}) =>
  talk.made(coreV1.Pod, name, { metadata, spec: { ...quiet, ...spec } });
const bound = (talk: Talk, name: string, spec = {}) => pod(talk, name, { nodeName: "no-such-node", ...spec });
const condition = (type: string, more = {}) => ({ type, status: "True", ...more });
const ended = (exitCode: number) => [{ name: "c", image: "x", state: { terminated: { exitCode } } }];
const runs = [{ name: "c", image: "x", state: { running: {} } }];

export const pods = suite("Pods", (it, target) => {
  const talk = talks("pods", it, target);

  talk("have a status that is written apart from the rest", async (each) => {
    const it = await pod(each, "it");
    const status = (what: string, body: object) => each.hears(what, it.patch("merge", body, "/status"));
    await status("a phase", { status: { phase: "Running", startTime: "2026-01-01T00:00:00Z" } });
    await status("nothing of the spec", { spec: { nodeName: "n" } });
    await status("labels and finalizers", { metadata: { labels: { a: "b" }, finalizers: ["a.b/c"] } });
    await status("owners", { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "y" }] } });
    await status("addresses", { status: { podIP: "10.0.0.1", hostIP: "10.0.0.2", hostIPs: [{ ip: "10.0.0.2" }] } });
    await status("addresses that are none", { status: { podIP: "x", hostIP: "y", hostIPs: [{ ip: "y" }] } });
    await status("addresses that differ", { status: { hostIP: "10.0.0.3", hostIPs: [{ ip: "10.0.0.2" }] } });
    await status("a class of service", { status: { qosClass: "Guaranteed" } });
    await status("a node to be", { status: { nominatedNodeName: "n" } });
    await status("no node to be", { status: { nominatedNodeName: "N N" } });
    await status("conditions", { status: { conditions: [condition("Ready"), condition("a.b/c")] } });
    await status("conditions that are none", { status: { conditions: [condition("a b")] } });
    await status("generations", {
      status: { observedGeneration: -1, conditions: [condition("Ready", { observedGeneration: -1 })] },
    });
    await status("a generation", {
      status: { observedGeneration: 1, conditions: [condition("Ready", { observedGeneration: 1 })] },
    });
    await status("no generation", { status: { observedGeneration: null, conditions: [condition("Ready")] } });
    await each.reads("what is there", it.get());
    await it.patch("merge", { metadata: { finalizers: null } });
  });

  talk("do not start again what has ended, unless they are to", async (each) => {
    for (const restartPolicy of ["Never", "OnFailure", "Always"]) {
      const it = await pod(each, restartPolicy.toLowerCase(), { restartPolicy });
      for (const code of [0, 1]) {
        await it.patch("merge", { status: { containerStatuses: null } }, "/status");
        await each.hears(
          `${restartPolicy}: ends with ${code}`,
          it.patch("merge", { status: { containerStatuses: ended(code) } }, "/status"),
        );
        await each.hears(
          `${restartPolicy}: runs after ${code}`,
          it.patch("merge", { status: { containerStatuses: runs } }, "/status"),
        );
      }
    }
    const bound = await pod(each, "bound", { nodeName: "no-such-node" });
    await each.hears(
      "a node to be, where there is one",
      bound.patch("merge", { status: { nominatedNodeName: "n" } }, "/status"),
    );
  });

  talk("count what was wanted of them", async (each) => {
    const it = await pod(each, "it");
    const generation = async (what: string) => each.shows(what, (await it.get()).body.metadata.generation);
    await generation("new");
    await it.patch("merge", { metadata: { labels: { a: "b" } } });
    await generation("other labels");
    await it.patch("merge", { spec: { containers: [{ ...container, image: "other" }] } });
    await generation("another image");
    await it.patch("merge", { status: { phase: "Running" } }, "/status");
    await generation("another phase");
    await it.post("/binding", { metadata: { name: "it" }, target: { kind: "Node", name: "n" } });
    await generation("another node");
  });

  talk("are selected by some of their fields", async (each) => {
    await pod(each, "a", { hostNetwork: true });
    await pod(each, "b", { restartPolicy: "Never", schedulerName: "somebody", nodeName: "n" });
    await (await pod(each, "c")).patch(
      "merge",
      { status: { phase: "Running", podIP: "10.0.0.1", nominatedNodeName: "m" } },
      "/status",
    );
    for (const selector of [
      "spec.nodeName=n",
      "spec.nodeName=",
      "spec.nodeName!=",
      "spec.restartPolicy=Never",
      "spec.schedulerName=nobody",
      "spec.schedulerName=nobody,spec.nodeName=",
      "spec.serviceAccountName=default",
      "spec.hostNetwork=true",
      "spec.hostNetwork=false",
      "status.phase=Running",
      "status.phase!=Running",
      "status.podIP=10.0.0.1",
      "status.nominatedNodeName=m",
      "metadata.name=a",
      "metadata.name!=a",
    ]) {
      each.shows(selector, await each.pods(`fieldSelector=${encodeURIComponent(selector)}`));
    }
    await each.hears("another field", each.send("GET", "pods?fieldSelector=spec.priority%3D1"));
  });

  talk("are given notice, if anybody runs them", async (each) => {
    const remains = async (what: string, name: string, query = "") => {
      const reply = await each.hears(`${what}: asked`, each.send("DELETE", `pods/${name}${query}`));
      const { deletionTimestamp, deletionGracePeriodSeconds, generation } = reply.body.metadata ?? {};
      each.shows(`${what}: told`, {
        kind: reply.body.kind,
        marked: deletionTimestamp !== undefined,
        deletionGracePeriodSeconds,
        generation,
      });
      each.shows(`${what}: there`, (await each.send("GET", `pods/${name}`)).status);
    };
    await pod(each, "free");
    await remains("nobody", "free");
    await bound(each, "one");
    await remains("somebody", "one");
    await remains("a longer one", "one", "?gracePeriodSeconds=60");
    await remains("a shorter one", "one", "?gracePeriodSeconds=5");
    await remains("none", "one", "?gracePeriodSeconds=0");
    await bound(each, "two", { terminationGracePeriodSeconds: 0 });
    await remains("none wanted", "two");
    await bound(each, "three");
    await remains("one asked for", "three", "?gracePeriodSeconds=7");
    await remains("less than none", "three", "?gracePeriodSeconds=-1");
    await remains("only pretended", "three", "?gracePeriodSeconds=0&dryRun=All");
    await each.send("DELETE", "pods/three?gracePeriodSeconds=0");
    const four = await bound(each, "four");
    await four.patch("merge", { status: { phase: "Succeeded" } }, "/status");
    await remains("nobody any more", "four");
    const five = await pod(each, "five", {}, { finalizers: ["conformance.berth.dev/held"] });
    await remains("held", "five");
    await each.hears(
      "another finalizer",
      five.patch("merge", { metadata: { finalizers: ["conformance.berth.dev/held", "a.b/c"] } }),
    );
    await each.hears("no finalizer", five.patch("merge", { metadata: { finalizers: null } }));
    each.shows("let go: there", (await each.send("GET", "pods/five")).status);
  });

  talk("are what they were meant to be, or are not deleted", async (each) => {
    await pod(each, "it");
    await each.hears("another uid", each.send("DELETE", "pods/it", { preconditions: { uid: "x" } }));
    await each.hears("another version", each.send("DELETE", "pods/it", { preconditions: { resourceVersion: "1" } }));
    await each.hears("nobody", each.send("DELETE", "pods/nobody"));
  });
});
