/** Kubernetes in one process, on a clock you control. @packageDocumentation */
export { ApiServer, type ApiServerOptions, type Caller } from "./api/api-server.ts";
export { SimTransport, type SimTransportOptions } from "./api/sim-transport.ts";
export type { ApplicationsOptions } from "./apps/applications.ts";
export { FlinkDeployment } from "./apps/flink/deployment.ts";
export { SparkApplication } from "./apps/spark/application.ts";
export type { AccessOptions } from "./auth/access.ts";
export type { HttpServerOptions } from "./http/http-server.ts";
export type { KubeletOptions } from "./kubelet/kubelet.ts";
export type { NodeShape } from "./kubelet/node-object.ts";
export type { Outcome, Run, Runtime, Stopping } from "./kubelet/runtime.ts";
export type { SchedulerConfiguration } from "./scheduler/configuration.ts";
export type { Extender } from "./scheduler/extenders/extender.ts";
export { Sim, type SimOptions, startSim } from "./simulation.ts";
export type { LoggedEvent } from "./storage/event-log.ts";
export { WorkModelError, type WorkModelErrorCode, type WorkModelProblem } from "./work/errors.ts";
export { defaultWorkModel, loadWorkModel, parseWorkModel, WorkModel } from "./work/model.ts";
