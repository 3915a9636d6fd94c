/** What stands between a wish and its object: namespaces, accounts, priorities, limits and quotas. */
import { coreV1, schedulingV1 } from "@berth/kube";
import type { JsonObject } from "../api/json.ts";
import { container } from "./examples/example.ts";
import { type Talk, talks } from "./examples/talk.ts";
import { send } from "./patching.ts";
import { suite } from "./suite.ts";
import { eventually } from "./workload-world.ts";

/** Nobody schedules it, and nothing is added to it. */
const quiet = { schedulerName: "nobody", automountServiceAccountToken: false, containers: [container] };
const PRETENDED = "?dryRun=All";
const pretend = (talk: Talk, spec: JsonObject) =>
  talk.send("POST", `pods${PRETENDED}`, { metadata: { name: "it" }, spec: { ...quiet, ...spec } });
const using = (resources: JsonObject) => ({ containers: [{ ...container, resources }] });

export const admission = suite("Admission", (it, target) => {
  const talk = talks("admission", it, target);

  talk("nothing is made where there is no namespace, or none for long", async (each) => {
    const object = { metadata: { name: "it" } };
    await each.reads("nowhere", send(target(), "POST", "/api/v1/namespaces/nowhere/configmaps", object));
    await each.hears(
      "nowhere, pods",
      send(target(), "POST", "/api/v1/namespaces/nowhere/pods", { ...object, spec: quiet }),
    );
    await each.hears("elsewhere", each.send("POST", "configmaps", { metadata: { name: "it", namespace: "other" } }));
    for (const name of ["default", "kube-system", "kube-public"]) {
      await each.hears(`${name} stays`, send(target(), "DELETE", `/api/v1/namespaces/${name}`));
    }
    await each.made(coreV1.ConfigMap, "held", { metadata: { finalizers: ["conformance.berth.dev/held"] } });
    const { body } = await each.hears("to go", send(target(), "DELETE", `/api/v1/namespaces/${each.namespace}`));
    each.shows("what is told", {
      kind: body.kind,
      spec: body.spec,
      status: body.status,
      grace: body.metadata.deletionGracePeriodSeconds,
    });
    await each.reads("too late", each.send("POST", "configmaps", object));
    await each.hears(
      "what is there can change",
      each.subject(coreV1.ConfigMap, "held").patch("merge", { data: { a: "b" } }),
    );
    await each.subject(coreV1.ConfigMap, "held").patch("merge", { metadata: { finalizers: null } });
  });

  talk("pods act for somebody", async (each) => {
    const mine = { metadata: { name: "it" }, spec: { containers: [container], schedulerName: "nobody" } };
    const post = (spec: JsonObject) =>
      each.send("POST", `pods${PRETENDED}`, { ...mine, spec: { ...mine.spec, ...spec } });
    await each.reads("for the usual account", post({}));
    await each.hears("for nobody who is there", post({ serviceAccountName: "nobody" }));
    await each.made(coreV1.ServiceAccount, "somebody", {
      automountServiceAccountToken: false,
      imagePullSecrets: [{ name: "s" }],
    });
    await each.reads("for another", post({ serviceAccountName: "somebody" }));
    await each.reads(
      "with its token all the same",
      post({ serviceAccountName: "somebody", automountServiceAccountToken: true }),
    );
    const volumeMounts = [{ name: "own", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" }];
    const own = { containers: [{ ...container, volumeMounts }], volumes: [{ name: "own", emptyDir: {} }] };
    await each.reads("with a token of their own", post(own));
    await each.reads("those that run first too", post({ initContainers: [{ name: "i", image: "x" }] }));
  });

  talk("pods are as important as their class", async (each) => {
    const high = `${each.namespace}-high`;
    const meek = `${each.namespace}-meek`;
    await each.made(schedulingV1.PriorityClass, high, { value: 1000 });
    await each.made(schedulingV1.PriorityClass, meek, { value: 5, preemptionPolicy: "Never" });
    for (const priorityClassName of [high, meek]) {
      await eventually("the class is known", async () => {
        return (await pretend(each, { priorityClassName })).status === 201 || undefined;
      });
    }
    const post = async (what: string, spec: JsonObject) => {
      const { status, body } = await each.hears(what, pretend(each, spec));
      if (status !== 201) return;
      const { priority, priorityClassName, preemptionPolicy } = body.spec;
      each.shows(what, { priority, priorityClassName, preemptionPolicy });
    };
    await post("no class", {});
    await post("high", { priorityClassName: high });
    await post("meek", { priorityClassName: meek });
    await post("none that is there", { priorityClassName: "nobody" });
    await post("the system's", { priorityClassName: "system-node-critical" });
    await post("as it says", { priorityClassName: high, priority: 1000 });
    await post("not as it says", { priorityClassName: high, priority: 1001 });
    await post("not as none says", { priority: 1 });
    await post("other manners", { priorityClassName: meek, preemptionPolicy: "PreemptLowerPriority" });
    await each.subject(schedulingV1.PriorityClass, high).delete();
    await each.subject(schedulingV1.PriorityClass, meek).delete();
  });

  talk("one class may be that of all others", async (each) => {
    const [usual, other] = [`${each.namespace}-usual`, `${each.namespace}-other`];
    const path = "/apis/scheduling.k8s.io/v1/priorityclasses";
    await each.made(schedulingV1.PriorityClass, usual, { value: 7, globalDefault: true });
    const priority = async (expected: number) =>
      eventually(`pods have a priority of ${expected}`, async () => {
        const { spec } = (await pretend(each, {})).body;
        return spec.priority === expected ? spec : undefined;
      });
    each.shows("a pod", (await priority(7)).priorityClassName === usual);
    await each.hears("two", send(target(), "POST", path, { metadata: { name: other }, value: 8, globalDefault: true }));
    await each.made(schedulingV1.PriorityClass, other, { value: 8 });
    const become = each.subject(schedulingV1.PriorityClass, other).patch("merge", { globalDefault: true });
    await each.hears("two in the end", become);
    await each.subject(schedulingV1.PriorityClass, usual).delete();
    await each.subject(schedulingV1.PriorityClass, other).delete();
    each.shows("a pod after that", (await priority(0)).priority);
  });

  talk("pods stay on lost nodes for a while", async (each) => {
    const post = async (what: string, tolerations: unknown) =>
      each.shows(what, (await pretend(each, { tolerations } as JsonObject)).body.spec.tolerations);
    await post("none", []);
    await post("one", [
      { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 1 },
    ]);
    await post("all", [{ operator: "Exists" }]);
    await post("others", [{ key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoSchedule" }]);
  });

  talk("ranges of limits complete and refuse", async (each) => {
    await each.made(coreV1.LimitRange, "range", {
      spec: {
        limits: [
          {
            type: "Container",
            default: { cpu: "1", memory: "1Gi" },
            defaultRequest: { cpu: "500m" },
            min: { cpu: "100m" },
            max: { cpu: "2", memory: "4Gi" },
            maxLimitRequestRatio: { cpu: "4" },
          },
          { type: "Pod", max: { memory: "5Gi" } },
          { type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "2Gi" } },
        ],
      },
    });
    const post = async (what: string, spec: JsonObject) => {
      const { status, body } = await each.hears(what, pretend(each, spec));
      if (status !== 201) return;
      const { containers, initContainers } = body.spec;
      each.shows(what, {
        containers,
        initContainers,
        annotations: body.metadata.annotations,
        qos: body.status.qosClass,
      });
    };
    await eventually("the range is known", async () => {
      const { status, body } = await pretend(each, {});
      return status === 201 && body.metadata.annotations ? true : undefined;
    });
    await post("nothing said", {});
    await post("some said", using({ requests: { cpu: "1" }, limits: { cpu: "2" } }));
    await post("two containers", {
      containers: [container, { name: "d", image: "x" }],
      initContainers: [{ name: "i", image: "x" }],
    });
    await post("too little", using({ requests: { cpu: "50m" }, limits: { cpu: "150m" } }));
    await post("too much", using({ limits: { cpu: "3", memory: "8Gi" } }));
    await post("too far apart", using({ requests: { cpu: "100m" }, limits: { cpu: "1" } }));
    await post("too much together", {
      containers: ["a", "b"].map((name) => ({ name, image: "x", resources: { limits: { memory: "3Gi" } } })),
    });
    const claim = (storage: string) => ({
      metadata: { name: "it" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
    });
    for (const storage of ["500Mi", "1Gi", "3Gi"]) {
      await each.hears(
        `a claim of ${storage}`,
        each.send("POST", `persistentvolumeclaims${PRETENDED}`, claim(storage)),
      );
    }
  });

  talk("quotas are kept", async (each) => {
    const hard = {
      pods: "2",
      "requests.cpu": "2",
      "limits.memory": "2Gi",
      "count/configmaps": "3",
      services: "1",
      "services.nodeports": "0",
    };
    const quota = await each.made(coreV1.ResourceQuota, "quota", { spec: { hard } });
    // There is one config map already, which every namespace has.
    await eventually("the quota is counted", async () => {
      const { used } = (await quota.get()).body.status;
      return used?.["count/configmaps"] === "1" ? true : undefined;
    });
    const enough = { requests: { cpu: "1" }, limits: { memory: "1Gi" } };
    await eventually("the quota is known", async () => {
      return (await pretend(each, using(enough))).status === 201 || undefined;
    });
    const post = (name: string, resources: JsonObject) =>
      each.hears(name, each.send("POST", "pods", { metadata: { name }, spec: { ...quiet, ...using(resources) } }));
    await post("nothing-said", {});
    await post("half-said", { requests: { cpu: "1" } });
    await post("one", enough);
    await post("too-much", { requests: { cpu: "1500m" }, limits: { memory: "2Gi" } });
    await post("two", { requests: { cpu: "500m" }, limits: { memory: "500Mi" } });
    await post("three", { requests: { cpu: "100m" }, limits: { memory: "100Mi" } });
    await each.hears("a map", each.send("POST", "configmaps", { metadata: { name: "a" } }));
    await each.hears("another map", each.send("POST", "configmaps", { metadata: { name: "b" } }));
    await each.hears("one map too many", each.send("POST", "configmaps", { metadata: { name: "c" } }));
    const service = (name: string, type: string) => ({ metadata: { name }, spec: { type, ports: [{ port: 80 }] } });
    await each.hears("a service at nodes' ports", each.send("POST", "services", service("a", "NodePort")));
    await each.hears("a service", each.send("POST", "services", service("b", "ClusterIP")));
    await each.hears("one service too many", each.send("POST", "services", service("c", "ClusterIP")));
    await each.hears(
      "a service that becomes more",
      each.subject(coreV1.Service, "b").patch("merge", { spec: { type: "NodePort" } }),
    );
    const { used } = await eventually("all is counted", async () => {
      const { status } = (await quota.get()).body;
      return status.used?.["count/configmaps"] === "3" && status.used.services === "1" ? status : undefined;
    });
    each.shows("what is used", used);
  });

  talk("quotas may be of some pods only", async (each) => {
    const scoped = (name: string, scopes: readonly string[]) =>
      each.made(coreV1.ResourceQuota, name, { spec: { hard: { pods: "0" }, scopes } });
    const quotas = [await scoped("best", ["BestEffort"]), await scoped("ending", ["Terminating"])];
    for (const quota of quotas) {
      await eventually(
        "the quota is counted",
        async () => (await quota.get()).body.status.used?.pods === "0" || undefined,
      );
    }
    await eventually("the quotas are known", async () => {
      return (await pretend(each, using({ requests: { cpu: "1" } }))).status === 201 || undefined;
    });
    await each.hears("nothing said", pretend(each, {}));
    await each.hears("something said", pretend(each, using({ requests: { cpu: "1" } })));
    await each.hears("with an end", pretend(each, { ...using({ requests: { cpu: "1" } }), activeDeadlineSeconds: 5 }));
  });

  talk("runtimes are known, or are not", async (each) => {
    await each.hears("unknown", pretend(each, { runtimeClassName: "nobody" }));
    const name = `${each.namespace}-it`;
    const path = "/apis/node.k8s.io/v1/runtimeclasses";
    const scheduling = { nodeSelector: { r: "1" }, tolerations: [{ key: "r", operator: "Exists" }] };
    await send(target(), "POST", path, {
      metadata: { name },
      handler: "h",
      overhead: { podFixed: { cpu: "1" } },
      scheduling,
    });
    const { body } = await eventually("it is known", async () => {
      const reply = await pretend(each, { runtimeClassName: name });
      return reply.status === 201 ? reply : undefined;
    });
    const { overhead, nodeSelector, tolerations } = body.spec;
    each.shows("known", { overhead, nodeSelector, tolerations });
    await each.hears("another overhead", pretend(each, { runtimeClassName: name, overhead: { cpu: "2" } }));
    await each.hears("another node", pretend(each, { runtimeClassName: name, nodeSelector: { r: "2" } }));
    await each.hears("an overhead of its own", pretend(each, { overhead: { cpu: "2" } }));
    await send(target(), "DELETE", `${path}/${name}`);
  });
});
