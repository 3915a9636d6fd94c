/** Wires the operator together: what is shared, who hears of what, and the controllers. */
import { coreV1, informed, keyOf, keyText, type Manager } from "@berth/kube";
import { BatchJob } from "@berth/model";
import type { ApplicationAdapter, Placement } from "./apps/application.ts";
import { jobController } from "./job/controller.ts";
import { indexForJobs } from "./job/world.ts";
import { Ledger } from "./ledger/ledger.ts";
import { label } from "./names.ts";
import type { Seats } from "./placement/extender.ts";
import { ExtenderServer, type ExtenderServerOptions } from "./placement/extender-server.ts";
import { Placing } from "./placement/gate.ts";
import { Seating } from "./placement/seating.ts";
import { indexForSeats, seatsIn } from "./placement/seats.ts";
import { indexForSchedulings, schedulingController } from "./scheduling/controller.ts";
import { endedController } from "./scheduling/ended.ts";
import { orphanController } from "./scheduling/orphans.ts";
import { slotController } from "./slot/controller.ts";
import { indexForSlots } from "./slot/world.ts";
import { testbedController } from "./testbed/controller.ts";
import { summaryController } from "./testbed/summary.ts";

/** What an operator is made of. */
export interface OperatorOptions {
  /** For the kinds of applications that the cluster can run. */
  readonly adapters: readonly ApplicationAdapter[];
  /** Who makes room for executors. Default: the operator itself, by a gate. */
  readonly placement?: Placement;
  /** Where a second kube-scheduler asks, if it is the one who makes room. Default: nobody can. */
  readonly extender?: ExtenderServerOptions;
  /** Of ghosts: anything that does nothing. Default: Kubernetes' own pause image. */
  readonly ghostImage?: string;
}

/** What others may look at. */
export interface Operator {
  readonly ledger: Ledger;
  /** Where executors were told to go: for extenders. */
  readonly seats: Seats;
  readonly extender: ExtenderServer | undefined;
}

/** Adds Berth's controllers to a manager, which must not have started. */
export function addOperator(manager: Manager, options: OperatorOptions): Operator {
  const { adapters, placement = { type: "gate" }, ghostImage = "registry.k8s.io/pause:3.10" } = options;
  const { cache, apiReader: reader } = manager;
  cache.keep(informed(coreV1.Pod, { labelSelector: label.role })); // there may be many others, which are no concern of ours
  const ledger = new Ledger();
  const placing = new Placing(manager.clock);
  const events = manager.eventRecorder();
  const seating = new Seating({ cache, ledger, events, placing, placement });
  indexForSlots(cache);
  indexForJobs({ cache, adapters });
  indexForSchedulings(cache);
  indexForSeats(cache);
  keepUp(manager, ledger);
  const { metrics } = manager;
  metrics.figures("berth_slots", "Slots that are claimed, and that have an executor in them", "state", () =>
    ledger.figures(),
  );
  metrics.figures("berth_ledger_violations", "Slots or jobs that break a rule of the ledger", "rule", () =>
    ledger.violations(),
  );
  manager.addController(testbedController({ cache, ledger }));
  manager.addController(summaryController({ cache, events }));
  manager.addController(slotController({ cache, ledger, placing, placement, ghostImage }));
  manager.addController(jobController({ cache, ledger, events, seating, adapters, placement, reader }));
  manager.addController(orphanController({ cache, reader }));
  manager.addController(schedulingController({ cache, ledger, events }));
  manager.addController(endedController({ cache }));
  const seats = seatsIn(cache, manager.clock);
  const extender = options.extender && new ExtenderServer(options.extender, seats, () => cache.hasSynced, manager.log);
  if (extender) manager.add(extender);
  return { ledger, seats, extender };
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
