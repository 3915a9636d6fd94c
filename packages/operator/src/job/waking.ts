/** What is worth a look at a job: of everything that happens to its executors and to its application, little. Pure. */
import { type coreV1, isBeingDeleted, type KubernetesObject } from "@berth/kube";
import type { ApplicationAdapter } from "../apps/application.ts";
import { isGated } from "../placement/gate.ts";
import { isSame } from "../writes.ts";
import { viewOf } from "./world.ts";

/** An executor waits, has its slot, runs, has ended or is about to go. That it is bound, or ready, is nothing new to its job. */
export function executorMoved(old: coreV1.Pod, pod: coreV1.Pod): boolean {
  return (
    old.status?.phase !== pod.status?.phase ||
    isBeingDeleted(old) !== isBeingDeleted(pod) ||
    isGated(old) !== isGated(pod) ||
    !isSame(old.metadata.labels, pod.metadata.labels) ||
    !isSame(old.metadata.annotations, pod.metadata.annotations)
  );
}

/** An application is another one than before, as far as a job sees it. */
export function applicationMoved(adapter: ApplicationAdapter) {
  return (old: KubernetesObject, object: KubernetesObject) => !isSame(viewOf(old, adapter), viewOf(object, adapter));
}
