/** Everything that has to be in a cluster before the operator can work there, as objects. Pure. */
import {
  apiextensionsV1,
  coordinationV1,
  coreV1,
  eventsV1,
  type KubernetesObject,
  rbacV1,
  schedulingV1,
  type WritableKind,
} from "@berth/kube";
import { BatchJob, resources, Slot, Testbed } from "@berth/model";
import { adapters } from "../apps/adapters.ts";
import { jobRights } from "../job/controller.ts";
import { priorityClasses } from "../priority-classes.ts";
import { schedulingRights } from "../scheduling/controller.ts";
import { endedRights } from "../scheduling/ended.ts";
import { orphanRights } from "../scheduling/orphans.ts";
import { slotRights } from "../slot/controller.ts";
import { testbedRights } from "../testbed/controller.ts";
import { summaryRights } from "../testbed/summary.ts";
import { may, type Right, rulesFor, SEE } from "./rights.ts";

/** The name of everything that is the operator's own. */
export const OPERATOR = "berth-operator";

/** What can be chosen. */
export interface InstallationOptions {
  /** Where the operator runs. Default: "berth-system". */
  readonly namespace?: string;
  /** The priority of ghosts; everything below is ordinary. Default: 1. */
  readonly priorityBase?: number;
}

/** An object, and the kind it is of. */
export interface Manifest {
  readonly kind: WritableKind<KubernetesObject>;
  readonly object: KubernetesObject;
}

/** In the order in which they are to be applied. */
export function installation({ namespace = "berth-system", priorityBase = 1 }: InstallationOptions = {}): Manifest[] {
  return [
    ...resources.map((resource) => manifest(apiextensionsV1.CustomResourceDefinition, resource.crd())),
    ...priorityClasses(priorityBase).map((each) => manifest(schedulingV1.PriorityClass, each)),
    manifest(coreV1.Namespace, { metadata: { name: namespace } }),
    ...access(namespace),
  ];
}

/** Who the operator is, and what it may do. */
function access(namespace: string): Manifest[] {
  const subjects = [{ kind: "ServiceAccount", name: OPERATOR, namespace }];
  const roleRef = (kind: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name: OPERATOR });
  const own = { name: OPERATOR, namespace };
  return [
    manifest(coreV1.ServiceAccount, { metadata: own }),
    manifest(rbacV1.ClusterRole, { metadata: { name: OPERATOR }, rules: rulesFor(everywhere) }),
    manifest(rbacV1.ClusterRoleBinding, { metadata: { name: OPERATOR }, roleRef: roleRef("ClusterRole"), subjects }),
    manifest(rbacV1.Role, { metadata: own, rules: rulesFor(atHome) }),
    manifest(rbacV1.RoleBinding, { metadata: own, roleRef: roleRef("Role"), subjects }),
  ];
}

/** Some clusters ask for this right from whoever makes an object that keeps its owner from going first. */
const owners = [Testbed, Slot, BatchJob];

const everywhere: readonly Right[] = [
  ...testbedRights,
  ...slotRights,
  ...summaryRights,
  ...jobRights,
  ...schedulingRights,
  ...endedRights,
  ...orphanRights,
  ...adapters.map(({ resource }) => may([...SEE, "get", "create", "delete"], resource)),
  may(["create", "patch"], eventsV1.Event),
  ...owners.map((kind) => may(["update"], kind, "finalizers")),
];

/** One replica leads. */
const atHome: readonly Right[] = [may(["get", "create", "update"], coordinationV1.Lease)];

function manifest<T extends KubernetesObject>(kind: WritableKind<T>, object: T): Manifest {
  const { apiVersion } = kind;
  return { kind: kind as unknown as Manifest["kind"], object: { apiVersion, kind: kind.kind, ...object } };
}
