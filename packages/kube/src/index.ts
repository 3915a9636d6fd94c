/** Kubernetes for TypeScript. @packageDocumentation */

export { type Applied, Client, type ListPage, type ObjectList } from "./client/client.ts";
export { createOrUpdate, retryOnConflict } from "./client/conflicts.ts";
export { Exec, type ExecResult } from "./client/exec.ts";
export type {
  ApplyOptions,
  DeleteOptions,
  ExecOptions,
  GetOptions,
  ListOptions,
  LogOptions,
  RequestOptions,
  Selection,
  WatchOptions,
  WriteOptions,
} from "./client/options.ts";
export { type JsonPatchOperation, mergeFrom, type Patch } from "./client/patch.ts";
export type { ClientOptions, Written } from "./client/sender.ts";
export { SubresourceClient } from "./client/subresource-client.ts";
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
export type { Kubeconfig } from "./connect/kubeconfig.ts";
export {
  Controller,
  type ControllerContext,
  type ControllerOptions,
  type Reconcile,
  type ReconcileContext,
} from "./controller/controller.ts";
export {
  and,
  annotationChanged,
  generationChanged,
  labelChanged,
  not,
  type ObjectEvent,
  onUpdate,
  or,
  type Predicate,
  resourceVersionChanged,
} from "./controller/predicates.ts";
export { type Request, type Result, TerminalError } from "./controller/request.ts";
export {
  controllingOwner,
  type Mapper,
  type Owned,
  owned,
  type Watch,
  type WatchChoice,
  watch,
} from "./controller/watches.ts";
export { errorCatalogue, hasCode, KubeError, type KubeErrorCode } from "./errors.ts";
export { type EventOptions, EventRecorder, type EventRecorderOptions } from "./events/event-recorder.ts";
export type { Projection } from "./informer/admission.ts";
export { Cache, type CacheOptions, informed, type KindOptions } from "./informer/cache.ts";
export type { IndexFunction } from "./informer/indexes.ts";
export { type EventHandler, Informer, type InformerOptions } from "./informer/informer.ts";
export * from "./kinds/index.ts";
export {
  type JsonLoggerOptions,
  jsonLogger,
  type LogFields,
  type Logger,
  type LogLevel,
  logTo,
  silent,
} from "./log/logger.ts";
export type { Check, EndpointOptions } from "./manager/http-endpoints.ts";
export { type LeaderElectionOptions, LeaderElector, type LeaderElectorContext } from "./manager/leader-election.ts";
export { Manager, type ManagerOptions, type Reader, type Runnable } from "./manager/manager.ts";
export { setupSignalHandler } from "./manager/signals.ts";
export { Metrics } from "./metrics/metrics.ts";
export {
  type AnyCondition,
  type Condition,
  type ConditionUpdate,
  findCondition,
  isConditionTrue,
  withCondition,
} from "./objects/conditions.ts";
export { hasFinalizer, isBeingDeleted, withFinalizer, withoutFinalizer } from "./objects/finalizers.ts";
export { keyOf, keyText, type ObjectKey } from "./objects/key.ts";
export {
  type Kind,
  type KubernetesObject,
  kindOf,
  type ObjectMeta,
  type ObjectOf,
  type OwnerReference,
  type WritableKind,
} from "./objects/meta.ts";
export { controllerOf, isOwnedBy, withController, withOwner } from "./objects/owners.ts";
export { kubernetesTime, microTime } from "./objects/times.ts";
export {
  type AddOptions,
  LOW_PRIORITY,
  type WorkItem,
  WorkQueue,
  type WorkQueueObserver,
  type WorkQueueOptions,
} from "./queue/work-queue.ts";
export {
  defineResource,
  type PrinterColumn,
  type Resource,
  type ResourceObject,
  type ResourceOptions,
} from "./schema/define-resource.ts";
export { intOrString, type StructuralSchema } from "./schema/structural.ts";
export type { Validator, Violation } from "./schema/validator.ts";
export { type Clock, sleep, type Timer, VirtualClock, WallClock } from "./time/clock.ts";
export { orAborted, untilAborted } from "./time/or-aborted.ts";
export { integer, jitter, pick, type Random, SeededRandom, SystemRandom } from "./time/random.ts";
export { TokenBucket, type TokenBucketOptions } from "./time/token-bucket.ts";
export {
  ApiError,
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNotFound,
  isServerTimeout,
  isTooManyRequests,
  isUnauthorized,
  type Status,
  type StatusCause,
} from "./transport/api-error.ts";
export { type Answer, HttpTransport, type HttpTransportOptions } from "./transport/http-transport.ts";
export type {
  ApiRequest,
  ExecConnection,
  ExecRequest,
  OnEvent,
  Parameters,
  PatchType,
  Transport,
  Verb,
  WatchEvent,
  WatchRequest,
} from "./transport/transport.ts";
export { Quantity, type QuantityFormat } from "./values/quantity.ts";
export {
  FieldSelector,
  fieldOf,
  type LabelRequirement,
  LabelSelector,
  type LabelSelectorSpec,
} from "./values/selectors.ts";
