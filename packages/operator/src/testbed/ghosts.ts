/**
 * Which ghosts a testbed needs: slots and pods go in, pods to create and to delete come out. Pure.
 *
 * A ghost does nothing but hold the place of a slot that nobody is in. One that has ended, is of the wrong size or on the wrong
 * node, or whose slot has an executor, goes; a slot without one gets one. Its name says which slot it is for, so that two who
 * make it at once make it once.
 */
import { type coreV1, Quantity, withController } from "@berth/kube";
import type { Slot, Testbed } from "@berth/model";
import { annotation, label, priority } from "../names.ts";
import { isOver } from "../placement/assign.ts";
import type { SlotPlan } from "./slots.ts";

export interface GhostsInput {
  readonly testbed: Testbed;
  /** "namespace.name", as labels have it. */
  readonly testbedLabel: string;
  /** Each slot as it is to be, and its object if there is one already. */
  readonly slots: readonly { readonly plan: SlotPlan; readonly object: Slot | undefined }[];
  /** All ghosts of the testbed. */
  readonly ghosts: readonly coreV1.Pod[];
  /** Whether an executor has been put into a slot, and has not ended. */
  readonly isOccupied: (position: number) => boolean;
  /** Whether an executor is on its way to a slot whose ghost kube-scheduler will evict: until then it stays as it is. */
  readonly isAwaited: (position: number) => boolean;
  /** Whether a node takes pods; ghosts that are there already stay. */
  readonly isUsable: (node: string) => boolean;
  readonly image: string;
}

export interface GhostsPlan {
  readonly create: readonly coreV1.Pod[];
  readonly remove: readonly coreV1.Pod[];
}

export function ghostsFor({
  testbed,
  testbedLabel,
  slots,
  ghosts,
  isOccupied,
  isAwaited,
  isUsable,
  image,
}: GhostsInput): GhostsPlan {
  const wanted = new Map<string, coreV1.Pod>();
  for (const { plan, object } of slots) {
    if (!object || plan.leaving || isOccupied(plan.position)) continue;
    wanted.set(
      ghostName(testbed.metadata.name ?? "", plan.position),
      ghost(testbed, testbedLabel, plan, object, image),
    );
  }
  const awaited = new Set(
    slots.flatMap(({ plan }) =>
      isAwaited(plan.position) ? [ghostName(testbed.metadata.name ?? "", plan.position)] : [],
    ),
  );
  const [remove, present]: [coreV1.Pod[], Set<string>] = [[], new Set(awaited)];
  for (const pod of ghosts) {
    const { name = "", deletionTimestamp } = pod.metadata;
    const model = wanted.get(name);
    // As long as there is one of that name, also one that is on its way out, there cannot be another.
    present.add(name);
    if (deletionTimestamp === undefined && !awaited.has(name) && !(model && isLike(pod, model))) remove.push(pod);
  }
  const create = [...wanted].flatMap(([name, pod]) => (!present.has(name) && isUsable(nodeOf(pod)) ? [pod] : []));
  return { create, remove };
}

/** The name of a slot's ghost. */
export function ghostName(testbed: string, position: number): string {
  return `ghost-${testbed}-${position}`;
}

function ghost(testbed: Testbed, testbedLabel: string, plan: SlotPlan, slot: Slot, image: string): coreV1.Pod {
  const { namespace = "default", name = "" } = testbed.metadata;
  const { tolerations } = testbed.spec;
  // Whoever had the place once may take it back; who is new evicts nobody.
  const priorityClassName = slot.status?.established ? priority.ghostReturn : priority.ghost;
  const pod: coreV1.Pod = {
    metadata: {
      namespace,
      name: ghostName(testbed.metadata.name ?? "", plan.position),
      labels: { [label.testbed]: testbedLabel, [label.role]: "ghost", [label.slot]: String(plan.position) },
      annotations: { [annotation.testbed]: `${namespace}/${name}` },
    },
    spec: {
      priorityClassName,
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [plan.nodeName] }] }],
          },
        },
      },
      ...(tolerations && { tolerations: tolerations as coreV1.Toleration[] }),
      containers: [
        {
          name: "ghost",
          image,
          resources: { requests: { ...plan.resources } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        },
      ],
      securityContext: { runAsNonRoot: true, runAsUser: 65535, seccompProfile: { type: "RuntimeDefault" } },
      // It makes room in the moment it is told to.
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
    },
  };
  return withController(pod, slot);
}

/** Whether a ghost holds what it is to hold. */
function isLike(pod: coreV1.Pod, model: coreV1.Pod): boolean {
  return !isOver(pod) && nodeOf(pod) === nodeOf(model) && sameAmounts(requestsOf(pod), requestsOf(model));
}

function requestsOf({ spec }: coreV1.Pod): Readonly<Record<string, string>> {
  return spec?.containers[0]?.resources?.requests ?? {};
}

function sameAmounts(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => Quantity.parse(a[name] ?? "0").compare(b[name] ?? "0") === 0);
}

/** The node that a ghost is pinned to. */
function nodeOf({ spec }: coreV1.Pod): string {
  const [term] = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return term?.matchFields?.[0]?.values?.[0] ?? spec?.nodeName ?? "";
}
