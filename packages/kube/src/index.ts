/** Kubernetes for TypeScript. @packageDocumentation */

export {
  type Connection,
  connectionFrom,
  type Identity,
  type Impersonation,
  inCluster,
  type LoadOptions,
  loadConnection,
  type TlsOptions,
} from "./connect/connection.ts";
export { type Kubeconfig, KubeconfigError } from "./connect/kubeconfig.ts";
export {
  type Condition,
  type ConditionUpdate,
  findCondition,
  isConditionTrue,
  kubernetesTime,
  withCondition,
} from "./objects/conditions.ts";
export { hasFinalizer, isBeingDeleted, withFinalizer, withoutFinalizer } from "./objects/finalizers.ts";
export type { KubernetesObject, ObjectMeta, OwnerReference } from "./objects/meta.ts";
export { AlreadyOwnedError, controllerOf, isOwnedBy, withController } from "./objects/owners.ts";
export {
  type AddOptions,
  LOW_PRIORITY,
  type WorkItem,
  WorkQueue,
  type WorkQueueObserver,
  type WorkQueueOptions,
} from "./queue/work-queue.ts";
export {
  type CustomResourceDefinition,
  defineResource,
  type ObjectOf,
  type PrinterColumn,
  type Resource,
  type ResourceObject,
  type ResourceOptions,
} from "./schema/define-resource.ts";
export { intOrString, SchemaError, type StructuralSchema, type ValidationRule } from "./schema/structural.ts";
export type { Validator, Violation } from "./schema/validator.ts";
export { type Clock, sleep, type Timer, VirtualClock, WallClock } from "./time/clock.ts";
export { integer, jitter, pick, type Random, SeededRandom, SystemRandom } from "./time/random.ts";
export { Quantity, QuantityError, type QuantityFormat } from "./values/quantity.ts";
export {
  FieldSelector,
  fieldOf,
  type LabelRequirement,
  LabelSelector,
  type LabelSelectorSpec,
  SelectorError,
} from "./values/selectors.ts";
