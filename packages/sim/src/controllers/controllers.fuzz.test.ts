/** Objects as nobody in their right mind would make them: whatever the API server takes, no part of the cluster fails on it. */
import { appsV1, batchV1, coreV1, type Kind, type KubernetesObject, pick, policyV1, SeededRandom } from "@berth/kube";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { admissions } from "../admission/admissions.ts";
import { Kubelet } from "../kubelet/kubelet.ts";
import { controllers } from "./controllers.ts";
import { bindPods, testCluster } from "./testing/cluster.ts";

const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? 150);

const template: coreV1.PodTemplateSpec = {
  metadata: { labels: { app: "x" }, annotations: { "berth.dev/run-time": "1s" } },
  spec: {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 1,
    nodeSelector: { "kubernetes.io/os": "linux" },
    tolerations: [{ key: "k", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 }],
    initContainers: [{ name: "init", image: "x", command: ["true"], restartPolicy: "Always" }],
    containers: [
      {
        name: "main",
        image: "x",
        command: ["sh", "-c", "echo $HOSTNAME; sleep 1; exit 1"],
        env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
        ports: [{ name: "http", containerPort: 80, hostPort: 8080 }],
        resources: { requests: { cpu: "100m", memory: "1Gi" } },
        readinessProbe: { exec: { command: ["true"] }, initialDelaySeconds: 1 },
      },
    ],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/os", operator: "In", values: ["linux"] }] }],
        },
      },
    },
  },
};
const jobTemplate = {
  ...template,
  spec: { ...template.spec, containers: template.spec?.containers ?? [], restartPolicy: "Never" },
};
const selector = { matchLabels: { app: "x" } };
const metadata = { name: "x", namespace: "default" };

/** Objects that are well, to begin with. */
const SAMPLES: readonly (readonly [Kind<KubernetesObject>, object])[] = [
  [coreV1.Pod, { metadata: { ...metadata, labels: { app: "x" } }, spec: { ...template.spec, nodeName: "n0" } }],
  [
    batchV1.Job,
    {
      metadata,
      spec: {
        completions: 2,
        parallelism: 2,
        completionMode: "Indexed",
        backoffLimit: 1,
        activeDeadlineSeconds: 30,
        ttlSecondsAfterFinished: 5,
        podFailurePolicy: { rules: [{ action: "Ignore", onExitCodes: { operator: "In", values: [1] } }] },
        template: jobTemplate,
      },
    },
  ],
  [batchV1.CronJob, { metadata, spec: { schedule: "* * * * *", jobTemplate: { spec: { template: jobTemplate } } } }],
  [appsV1.ReplicaSet, { metadata, spec: { replicas: 2, minReadySeconds: 1, selector, template } }],
  [
    appsV1.Deployment,
    {
      metadata,
      spec: {
        replicas: 2,
        selector,
        template,
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 1 } },
      },
    },
  ],
  [appsV1.DaemonSet, { metadata, spec: { selector, template } }],
  [appsV1.StatefulSet, { metadata, spec: { replicas: 2, serviceName: "x", selector, template } }],
  [coreV1.Service, { metadata, spec: { selector: { app: "x" }, ports: [{ port: 80, targetPort: "http" }] } }],
  [policyV1.PodDisruptionBudget, { metadata, spec: { minAvailable: "50%", selector } }],
  [coreV1.ResourceQuota, { metadata, spec: { hard: { pods: "5", "requests.cpu": "2" } } }],
  [
    coreV1.Node,
    {
      metadata: { name: "other", labels: { "kubernetes.io/os": "linux" } },
      spec: { taints: [{ key: "k", effect: "NoExecute" }], podCIDR: "10.0.0.0/24" },
      status: { allocatable: { cpu: "1", pods: "10" }, conditions: [{ type: "Ready", status: "True" }] },
    },
  ],
  [coreV1.Namespace, { metadata: { name: "other" } }],
];

const STRANGE: readonly unknown[] = [
  ...[null, "", "x", 0, -1, 1e15, 1.5, true, [], {}, [null], [{}], { a: null }, "99999999999999999999Gi", "\u0000"],
  ...[JSON.parse('{"__proto__": {"a": 1}}'), [[]], "1h", "constructor", selector, "100%", "2020-01-01T00:00:00Z"],
];
const NUMBERS = [0, 1, 2, 7, 60, 600, -1];
const TEXTS = ["", "x", "Always", "Never", "OnFailure", "0", "1", "10%", "5m", "n1", "app", "Exists", "a-b"];

/** Something that could stand in the place of a value; most often of the same type, so that it is taken. */
function instead(value: unknown, random: SeededRandom): unknown {
  if (random.next() < 0.2) return pick(random, STRANGE);
  if (random.next() < 0.2) return null;
  if (typeof value === "number") return pick(random, NUMBERS);
  if (typeof value === "string") return pick(random, TEXTS);
  if (typeof value === "boolean") return !value;
  if (Array.isArray(value)) return pick(random, [[], [...value, ...value], value.slice(1)]);
  return {};
}

/** The object with something else in some place of it, and something left out. */
function spoilt(value: unknown, random: SeededRandom): unknown {
  if (typeof value !== "object" || value === null || random.next() < 0.08) return instead(value, random);
  const keys = Object.keys(value);
  if (keys.length === 0) return instead(value, random);
  const key = pick(random, keys);
  if (Array.isArray(value)) return value.map((item, index) => (String(index) === key ? spoilt(item, random) : item));
  const { [key]: field, ...others } = value as Record<string, unknown>;
  return random.next() < 0.1 ? others : { ...others, [key]: spoilt(field, random) };
}

describe("whatever the API server takes", () => {
  it("makes no part of the cluster fail", async () => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...SAMPLES),
        fc.array(fc.nat(), { maxLength: 3 }),
        async ([kind, sample], spoils) => {
          const cluster = testCluster({ admissions });
          const { clock, api, failures } = cluster;
          const kubelet = new Kubelet(cluster.surroundings("kubelet"), { startMs: 100 });
          for (const component of controllers(cluster.surroundings, { health: kubelet.health }))
            cluster.start(component);
          cluster.start(kubelet);
          for (const name of ["n0", "n1"]) kubelet.addNode({ name });
          bindPods(cluster, "n0", "n1");
          await clock.settle();
          const object = spoils.reduce<unknown>((each, seed) => spoilt(each, new SeededRandom(seed)), sample);
          const create = () => api.create(kind, object as KubernetesObject);
          try {
            const created = create();
            taken++;
            await clock.advance(3000);
            for (const seed of spoils) {
              const present = api.get(kind, {
                namespace: created.metadata.namespace,
                name: created.metadata.name ?? "",
              });
              if (!present) break;
              const changed = spoilt(present, new SeededRandom(seed + 1)) as KubernetesObject;
              if (seed % 2 === 0) api.update(kind, changed);
              else api.updateStatus(kind, changed);
              await clock.advance(3000);
            }
          } catch (error) {
            if (spoils.length === 0) throw error; // the others may be refused: that is what the API server is there for
          }
          kubelet.failNode("n0");
          await clock.advance(120_000);
          for (const pod of api.list(coreV1.Pod)) {
            api.delete(coreV1.Pod, { namespace: pod.metadata.namespace, name: pod.metadata.name ?? "" });
          }
          kubelet.recoverNode("n0");
          api.delete(kind, { ...metadata, name: "x" });
          await clock.advance(60_000);
          expect(failures).toEqual([]);
          const kubelets = cluster.refusals.filter((line) => line.startsWith("system:kubelet"));
          expect(kubelets).toEqual([]);
        },
      ),
      { numRuns: ROUNDS },
    );
    console.log("taken", taken, "of", ROUNDS);
    expect(taken).toBeGreaterThan(ROUNDS / 20);
  });
});
