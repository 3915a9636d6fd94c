/** Wires the operator together: what is shared, who hears of what, and the controllers. */
import { coreV1, keyOf, keyText, type Manager } from "@berth/kube";
import { BatchJob } from "@berth/model";
import type { ApplicationAdapter, RunOrder } from "./apps/application.ts";
import { indexForJobs, jobController } from "./job/controller.ts";
import { Ledger } from "./ledger/ledger.ts";
import { Placing } from "./placement/gate.ts";
import { indexForSchedulings, schedulingController } from "./scheduling/controller.ts";
import { testbedController } from "./testbed/controller.ts";
import { indexForTestbeds } from "./testbed/world.ts";

/** What an operator is made of. */
export interface OperatorOptions {
  /** For the kinds of applications that the cluster can run. */
  readonly adapters: readonly ApplicationAdapter[];
  /** How executors find their slots. Default: by a gate. */
  readonly placement?: RunOrder["placement"];
  /** Of ghosts: anything that does nothing. Default: Kubernetes' own pause image. */
  readonly ghostImage?: string;
}

/** Adds Berth's controllers to a manager, which must not have started. Gives the ledger, for those who want to look. */
export function addOperator(manager: Manager, options: OperatorOptions): Ledger {
  const { adapters, placement = { type: "gate" }, ghostImage = "registry.k8s.io/pause:3.10" } = options;
  const { cache } = manager;
  const ledger = new Ledger();
  const placing = new Placing();
  indexForTestbeds(cache);
  indexForJobs({ cache, adapters });
  indexForSchedulings(cache);
  keepUp(manager, ledger);
  manager.addController(testbedController({ cache, ledger, placing, ghostImage }));
  manager.addController(jobController({ cache, ledger, placing, adapters, placement }));
  manager.addController(schedulingController({ cache, ledger }));
  return ledger;
}

/** Lets the ledger hear of everything first, before any controller acts on it. */
function keepUp({ cache }: Manager, ledger: Ledger): void {
  const set = (job: BatchJob) => ledger.setJob(keyText(keyOf(job)), job);
  cache.informer(BatchJob).addEventHandler({
    onAdd: set,
    onUpdate: (_, job) => set(job),
    onDelete: (job) => ledger.setJob(keyText(keyOf(job)), undefined),
  });
  const setPod = (pod: coreV1.Pod) => ledger.setPod(pod.metadata.uid ?? "", pod);
  cache.informer(coreV1.Pod).addEventHandler({
    onAdd: setPod,
    onUpdate: (_, pod) => setPod(pod),
    onDelete: ({ metadata }) => ledger.setPod(metadata.uid ?? "", undefined),
  });
}
