/** What can be done with parts of objects: binding, eviction, scale, and the others that have rules of their own. */
import { appsV1, coreV1, policyV1 } from "@berth/kube";
import { container, selector, template } from "./examples/example.ts";
import { type Talk, talks } from "./examples/talk.ts";
import { send } from "./patching.ts";
import { suite } from "./suite.ts";
import { eventually } from "./workload-world.ts";

/** Nobody schedules it, and nothing is added to it. */
const quiet = { schedulerName: "nobody", automountServiceAccountToken: false, containers: [container] };
const pod = (talk: Talk, name: string, spec = {}, metadata = {}) =>
  talk.made(coreV1.Pod, name, { metadata, spec: { ...quiet, ...spec } });
const binding = (name: string, node = "n", metadata = {}) => ({
  metadata: { name, ...metadata },
  target: { kind: "Node", name: node },
});

export const subresources = suite("Subresources", (it, target) => {
  const talk = talks("subresources", it, target);

  talk("a pod is bound, once", async (each) => {
    const it = await pod(each, "it", {}, { annotations: { a: "1", b: "1" }, labels: { l: "1" } });
    const bind = (what: string, body: unknown, name = "it") =>
      each.hears(what, each.subject(coreV1.Pod, name).post("/binding", body));
    await it.patch("merge", { status: { nominatedNodeName: "m" } }, "/status");
    await bind("nobody", binding("nobody"), "nobody");
    await bind("another name", binding("other"));
    await bind("no name", { target: { name: "n" } });
    await bind("no node", { metadata: { name: "it" }, target: { kind: "Node" } });
    await bind("no target", { metadata: { name: "it" } });
    await bind("something else", { metadata: { name: "it" }, target: { kind: "Pod", name: "n" } });
    await bind("another uid", binding("it", "n", { uid: "other" }));
    await bind("another version", binding("it", "n", { resourceVersion: "1" }));
    await each.hears("only pretended", it.post("/binding?dryRun=All", binding("it")));
    each.shows("still nowhere", (await it.get()).body.spec.nodeName ?? "");
    const { uid } = (await it.get()).body.metadata;
    const given = { uid, annotations: { b: "2", c: "2" }, labels: { m: "2" } };
    await each.reads("at last", it.post("/binding", binding("it", "n", given)));
    await each.reads("what is there", it.get());
    await bind("again", binding("it", "n"));
    await bind("elsewhere", binding("it", "m"));
    await pod(each, "gated", { schedulingGates: [{ name: "g" }] });
    await bind("behind a gate", binding("gated"), "gated");
    const going = await pod(each, "going", {}, { finalizers: ["conformance.berth.dev/held"] });
    await each.send("DELETE", "pods/going");
    await bind("on its way out", binding("going"), "going");
    await going.patch("merge", { metadata: { finalizers: null } });
    await pod(each, "old");
    await each.hears("in the old way", each.send("POST", "bindings", binding("old")));
    each.shows("its node", (await each.send("GET", "pods/old")).body.spec.nodeName);
    await each.hears("in the old way: nobody", each.send("POST", "bindings", binding("nobody")));
  });

  talk("a pod is evicted, if its budget has room", async (each) => {
    const eviction = (name: string, more = {}) => ({
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name },
      ...more,
    });
    const evict = (what: string, name: string, more = {}, query = "") =>
      each.hears(what, each.subject(coreV1.Pod, name).post(`/eviction${query}`, eviction(name, more)));
    const there = async (what: string, name: string) =>
      each.shows(what, (await each.send("GET", `pods/${name}`)).status);
    await evict("nobody", "nobody");
    await pod(each, "free");
    await evict("only pretended", "free", {}, "?dryRun=All");
    await evict("only pretended, in the body", "free", { deleteOptions: { dryRun: ["All"] } });
    await there("still there", "free");
    await evict("another uid", "free", { deleteOptions: { preconditions: { uid: "x" } } });
    await each.hears("another name", each.subject(coreV1.Pod, "free").post("/eviction", eviction("other")));
    await each.reads("at last", each.subject(coreV1.Pod, "free").post("/eviction", eviction("free")));
    await there("gone", "free");
    const budget = await each.made(policyV1.PodDisruptionBudget, "budget", { spec: { minAvailable: 1, selector } });
    await eventually("the budget is known", async () => {
      const { status = {}, metadata } = (await budget.get()).body;
      return status.observedGeneration === metadata.generation ? true : undefined;
    });
    const kept = await pod(each, "kept", { nodeName: "no-such-node" }, { labels: selector.matchLabels });
    const ready = [{ type: "Ready", status: "True" }];
    await evict("not begun", "kept", {}, "?dryRun=All");
    await kept.patch("merge", { status: { phase: "Running", conditions: ready } }, "/status");
    await eventually("the budget counts", async () => (await budget.get()).body.status.currentHealthy || undefined);
    const refused = await each.reads("no room", kept.post("/eviction", eviction("kept")));
    each.shows("its code", refused.status);
    await budget.patch("merge", { spec: { minAvailable: 0 } });
    await eventually("there is room", async () => (await budget.get()).body.status.disruptionsAllowed || undefined);
    await evict("room", "kept", { deleteOptions: { gracePeriodSeconds: 5 } });
    await each.reads("on its way out", kept.get());
    await evict("again", "kept");
    await each.send("DELETE", "pods/kept?gracePeriodSeconds=0");
    const both = await pod(each, "both", { nodeName: "no-such-node" }, { labels: selector.matchLabels });
    await both.patch("merge", { status: { phase: "Running", conditions: ready } }, "/status");
    await each.made(policyV1.PodDisruptionBudget, "second", { spec: { minAvailable: 0, selector } });
    await evict("two budgets", "both");
    await each.send("DELETE", "pods/both?gracePeriodSeconds=0");
  });

  talk("something is scaled", async (each) => {
    const it = await each.made(appsV1.Deployment, "it", { spec: { replicas: 0, paused: true, selector, template } });
    const path = `/apis/apps/v1/namespaces/${each.namespace}/deployments/it/scale`;
    const scale = (replicas: number, metadata = {}) => ({ metadata: { name: "it", ...metadata }, spec: { replicas } });
    const put = (what: string, body: unknown, query = "") =>
      each.hears(what, send(target(), "PUT", path + query, body));
    await each.reads("at first", send(target(), "GET", path));
    await put("only pretended", scale(3), "?dryRun=All");
    await put("less than nothing", scale(-1));
    await put("another name", scale(1, { name: "other" }));
    await put("another uid", scale(1, { uid: "other" }));
    await put("another version", scale(1, { resourceVersion: "1" }));
    // Its controller may have written meanwhile: then it is another version.
    await eventually("its version", async () => {
      const { resourceVersion, uid } = (await send(target(), "GET", path)).body.metadata;
      const { status } = await put("this version", scale(0, { resourceVersion, uid }));
      return status !== 409 || undefined;
    });
    await each.hears("by a patch", it.patch("merge", { spec: { replicas: 2 } }, "/scale"));
    await each.reads("at last", send(target(), "GET", path));
    each.shows("itself", (await it.get()).body.spec.replicas);
    await each.hears("nobody", send(target(), "GET", path.replace("/it/", "/nobody/")));
    await it.delete();
    await each.made(coreV1.ReplicationController, "rc", { spec: { replicas: 0, template } });
    await each.reads("another kind", each.send("GET", "replicationcontrollers/rc/scale"));
  });

  talk("somebody looks into a pod", async (each) => {
    const it = await pod(each, "it");
    const first = { name: "e", image: "x" };
    const add = (what: string, ephemeralContainers: unknown) =>
      each.hears(what, it.patch("strategic", { spec: { ephemeralContainers } }, "/ephemeralcontainers"));
    await add("nobody", [{ name: "", image: "" }]);
    await add("somebody", [first]);
    await add("another", [{ name: "f", image: "y", targetContainerName: "c" }]);
    await add("with what they cannot have", [
      { name: "g", image: "y", ports: [{ containerPort: 1 }], targetContainerName: "z" },
    ]);
    await add("somebody else", [{ ...first, image: "z" }]);
    await each.hears(
      "nobody any more",
      it.patch("merge", { spec: { ephemeralContainers: [] } }, "/ephemeralcontainers"),
    );
    await each.reads("what is there", it.get());
    await each.hears("and directly", it.patch("merge", { spec: { ephemeralContainers: [first] } }));
  });

  talk("a pod gets more, or less", async (each) => {
    const resources = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "2", memory: "2Gi" } };
    const it = await pod(each, "it", { containers: [{ ...container, resources }] });
    const resize = (what: string, change: object, more = {}) =>
      each.hears(
        what,
        it.patch("strategic", { spec: { containers: [{ name: "c", resources: change, ...more }] } }, "/resize"),
      );
    await resize("more", { requests: { cpu: "1500m" } });
    await resize("more than it may", { requests: { cpu: "3" } });
    await resize("another class", { requests: { cpu: "2", memory: "2Gi" } });
    await resize("something else", { requests: { "ephemeral-storage": "1Gi" } });
    await resize("another image", {}, { image: "other" });
    await each.reads("what is there", it.get());
  });

  talk("a namespace lets go by its own finalizers", async (each) => {
    const path = `/api/v1/namespaces/${each.namespace}/finalize`;
    const { body } = await each.send("GET", "");
    const name = each.namespace;
    const put = (what: string, finalizers: unknown, metadata = {}) =>
      each.hears(what, send(target(), "PUT", path, { metadata: { name, ...metadata }, spec: { finalizers } }));
    each.shows("at first", body.spec);
    await put("not called so", ["mine"]);
    await put("another version", ["kubernetes"], { resourceVersion: "1" });
    await put("one more", ["kubernetes", "conformance.berth.dev/held"]);
    each.shows("then", (await each.send("GET", "")).body.spec);
    const status = (what: string, phase: string) =>
      each.hears(
        what,
        send(target(), "PUT", `/api/v1/namespaces/${name}/status`, { metadata: { name }, status: { phase } }),
      );
    await status("active", "Active");
    await status("on its way out", "Terminating");
    await put("as before", ["kubernetes"]);
  });
});
