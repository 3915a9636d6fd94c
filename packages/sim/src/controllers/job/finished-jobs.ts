/** Deletes Jobs that are over, when the time has passed that they ask for. */
import { batchV1, keyOf } from "@berth/kube";
import { LocalApi } from "../../api/local-api.ts";
import { type Component, type Surroundings, Workbench } from "../component.ts";
import { keyFrom, textOf } from "../parents.ts";
import { finalCondition, isNumber } from "./job-facts.ts";

export class FinishedJobs implements Component {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #bench: Workbench;
  #stop: () => void = () => {};

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:kube-system:ttl-after-finished-controller");
    this.#bench = new Workbench(surroundings, (key) => this.#deleteIfDue(key));
  }

  start(): void {
    this.#stop = this.#api.onChange(batchV1.Job, ({ type, object }) => {
      if (type !== "DELETED" && isNumber(object.spec?.ttlSecondsAfterFinished)) this.#bench.add(textOf(object));
    });
    for (const job of this.#api.list(batchV1.Job)) this.#bench.add(textOf(job));
  }

  stop(): void {
    this.#stop();
    this.#bench.stop();
  }

  #deleteIfDue(key: string): void {
    const job = this.#api.get(batchV1.Job, keyFrom(key));
    const end = job && finalCondition(job);
    const seconds = job?.spec?.ttlSecondsAfterFinished;
    if (!end || !isNumber(seconds) || job.metadata.deletionTimestamp !== undefined) return;
    const left = Date.parse(end.lastTransitionTime ?? "") + seconds * 1000 - this.#surroundings.clock.now();
    const { uid = "" } = job.metadata;
    if (left > 0) this.#bench.addWithin(key, left);
    else this.#api.delete(batchV1.Job, keyOf(job), { propagationPolicy: "Foreground", preconditions: { uid } });
  }
}
