/**
 * Whether a slot needs a ghost: how it stands with the slot goes in, a pod to create or to delete comes out. Pure.
 *
 * A ghost does nothing but hold the place of a slot that nobody is in. One that has ended, is of the wrong size or on the wrong
 * node, or whose slot has an executor, goes; a slot without one gets one. Its name says which slot it is for, so that two who
 * make it at once make it once.
 */
import { type coreV1, keyOf, Quantity, withController } from "@berth/kube";
import type { Slot, Testbed } from "@berth/model";
import { annotation, label, labelValueOf, priority } from "../names.ts";
import { isOver } from "../placement/assign.ts";
import { texts } from "../testbed/slots.ts";

export interface GhostInput {
  readonly testbed: Testbed;
  readonly slot: Slot;
  /** Whether the slot goes as soon as nobody has it. */
  readonly isLeaving: boolean;
  /** The one that there is. */
  readonly ghost: coreV1.Pod | undefined;
  /** Whether an executor has been put into the slot, and has not ended. */
  readonly isOccupied: boolean;
  /** Whether an executor is on its way, and somebody else makes room for it: until then everything stays as it is. */
  readonly isAwaited: boolean;
  /** Whether the node takes pods; a ghost that is there already stays. */
  readonly isUsable: boolean;
  readonly image: string;
}

export interface GhostPlan {
  readonly create?: coreV1.Pod;
  readonly remove?: coreV1.Pod;
}

export function ghostFor({
  testbed,
  slot,
  isLeaving,
  ghost,
  isOccupied,
  isAwaited,
  isUsable,
  image,
}: GhostInput): GhostPlan {
  if (isAwaited) return {};
  const wanted = isLeaving || isOccupied ? undefined : ghostOf(testbed, slot, image);
  // As long as there is one of that name, also one that is on its way out, there cannot be another.
  if (!ghost) return wanted && isUsable ? { create: wanted } : {};
  const stays = ghost.metadata.deletionTimestamp !== undefined || (wanted && isLike(ghost, wanted));
  return stays ? {} : { remove: ghost };
}

/** The name of a slot's ghost. */
export function ghostName(slot: string): string {
  return `ghost-${slot}`;
}

function ghostOf(testbed: Testbed, slot: Slot, image: string): coreV1.Pod {
  const { namespace = "default", name = "" } = testbed.metadata;
  const { position, nodeName, resources } = slot.spec;
  const { tolerations } = testbed.spec;
  // Whoever had the place once may take it back; who is new evicts nobody.
  const priorityClassName = slot.status?.established ? priority.ghostReturn : priority.ghost;
  const pod: coreV1.Pod = {
    metadata: {
      namespace,
      name: ghostName(slot.metadata.name ?? ""),
      labels: {
        [label.testbed]: labelValueOf(keyOf(testbed)),
        [label.role]: "ghost",
        [label.slot]: String(position),
      },
      annotations: { [annotation.testbed]: `${namespace}/${name}` },
    },
    spec: {
      priorityClassName,
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [nodeName] }] }],
          },
        },
      },
      ...(tolerations && { tolerations: tolerations as coreV1.Toleration[] }),
      containers: [
        {
          name: "ghost",
          image,
          resources: { requests: texts(resources) },
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
