/** A cluster for tests of applications: the operators, kubelets that follow a work model, and somebody who binds pods. */
import { coreV1, type KubernetesObject } from "@berth/kube";
import { DeploymentController } from "../../controllers/deployment/deployment-controller.ts";
import { GarbageCollector } from "../../controllers/garbage-collector/garbage-collector.ts";
import { ReplicaSetController } from "../../controllers/replica-set.ts";
import { bindPods, type TestCluster, testCluster } from "../../controllers/testing/cluster.ts";
import { CustomResources } from "../../custom/custom-resources.ts";
import { Kubelet } from "../../kubelet/kubelet.ts";
import { parseWorkModel } from "../../work/model.ts";
import type { WorkModelRuntime } from "../../work/runtime.ts";
import { type ApplicationsOptions, applications } from "../applications.ts";
import type { SparkApplication, SparkApplicationSpec } from "../spark/application.ts";

export interface AppCluster extends TestCluster {
  readonly kubelet: Kubelet;
  readonly runtime: WorkModelRuntime;
  /** Lets so many seconds pass. */
  pass(seconds: number): Promise<void>;
  /** Names of pods, and their phase. */
  pods(): Record<string, string>;
  pod(name: string): coreV1.Pod;
}

export interface AppClusterOptions extends Omit<ApplicationsOptions, "work"> {
  /** YAML. */
  readonly work?: string;
  readonly nodes?: readonly string[];
  readonly seed?: string;
  /** Whether pods are bound. Default: true. */
  readonly bind?: boolean;
}

const PLAIN = "kinds: [{ name: plain, work: 60 }]";

export async function appCluster({
  work = PLAIN,
  nodes = ["n1", "n2", "n3", "n4"],
  seed = "apps",
  bind = true,
  ...options
}: AppClusterOptions = {}): Promise<AppCluster> {
  const cluster = testCluster({ seed, events: false });
  const { clock, api, start, surroundings } = cluster;
  start(new CustomResources(surroundings("custom")));
  const { runtime, components } = applications(surroundings("apps"), { work: parseWorkModel(work), ...options });
  const kubelet = start(new Kubelet(surroundings("kubelet"), { runtime }));
  start(new ReplicaSetController(surroundings("replicasets")));
  start(new DeploymentController(surroundings("deployments")));
  start(new GarbageCollector(surroundings("gc")));
  for (const component of components) start(component);
  for (const name of nodes) kubelet.addNode({ name });
  if (bind) bindPods(cluster, ...nodes);
  await clock.settle(); // until the definitions are served
  return {
    ...cluster,
    kubelet,
    runtime,
    pass: (seconds) => clock.advance(seconds * 1000),
    pods: () => {
      const named = api.list(coreV1.Pod).map(({ metadata, status }) => [metadata.name ?? "", status?.phase ?? ""]);
      return Object.fromEntries(named) as Record<string, string>;
    },
    pod: (name) => {
      const found = api.get(coreV1.Pod, { namespace: "default", name });
      if (!found) throw new Error(`there is no pod ${name}`);
      return found;
    },
  };
}

/** A SparkApplication with as little in it as possible. */
export function sparkApplication(
  name: string,
  { executor, driver, ...spec }: Partial<SparkApplicationSpec> = {},
  metadata: KubernetesObject["metadata"] = {},
): SparkApplication {
  return {
    metadata: { name, namespace: "default", ...metadata },
    spec: {
      type: "Scala",
      sparkVersion: "3.5.6",
      image: "spark:3.5.6",
      mainClass: "org.apache.spark.examples.SparkPi",
      mainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
      driver: { serviceAccount: "spark", ...driver },
      executor: { instances: 2, ...executor },
      ...spec,
    },
  };
}
