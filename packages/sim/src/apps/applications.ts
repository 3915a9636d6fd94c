/** Everything that applications need in a cluster: their operators, and a runtime that knows how long they take. */

import { SeededRandom } from "@berth/kube";
import { LocalApi } from "../api/local-api.ts";
import type { Component, Surroundings } from "../controllers/component.ts";
import type { Runtime } from "../kubelet/runtime.ts";
import type { WorkModel } from "../work/model.ts";
import { WorkModelRuntime } from "../work/runtime.ts";
import { describeFlink } from "./flink/membership.ts";
import { FlinkOperator, type FlinkOperatorOptions } from "./flink/operator.ts";
import { describeSpark } from "./spark/membership.ts";
import { SparkOperator, type SparkOperatorOptions } from "./spark/operator.ts";

/** Which operators there are, and how long applications take. */
export interface ApplicationsOptions {
  /** How long applications take. Default: the model that comes with this package. */
  readonly work?: WorkModel;
  /** `false`: there is no Spark operator. */
  readonly spark?: false | Omit<SparkOperatorOptions, "fail">;
  /** `false`: there is no Flink operator. */
  readonly flink?: false | Omit<FlinkOperatorOptions, "jobs">;
  /** For containers that are part of no application. Default: `DefaultRuntime`. */
  readonly otherwise?: Runtime;
}

export interface Applications {
  /** For the kubelets. */
  readonly runtime: WorkModelRuntime;
  /** To be started with the cluster. */
  readonly components: readonly Component[];
}

export function applications(surroundings: Surroundings, options: ApplicationsOptions = {}): Applications {
  const { work, spark = {}, flink = {}, otherwise } = options;
  const { clock, random, server } = surroundings;
  const objects = new LocalApi(server, "system:work-model");
  const seed = random.next();
  const of = (name: string): Surroundings => ({ ...surroundings, random: new SeededRandom(`${seed}/${name}`) });
  const runtime = new WorkModelRuntime({
    clock,
    random: of("work").random,
    objects,
    ...(work && { model: work }),
    describe: [describeSpark(objects), describeFlink(objects)],
    ...(otherwise && { otherwise }),
  });
  const components: Component[] = [];
  if (spark)
    components.push(new SparkOperator(of("spark"), { ...spark, fail: (run, how) => void runtime.fail(run, how) }));
  if (flink) components.push(new FlinkOperator(of("flink"), { ...flink, jobs: runtime }));
  return { runtime, components };
}
