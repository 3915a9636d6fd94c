/** Kubernetes in one process, on a clock you control. @packageDocumentation */
export { ApiServer, type ApiServerOptions, type Caller } from "./api/api-server.ts";
export { SimTransport, type SimTransportOptions } from "./api/sim-transport.ts";
export { Sim, type SimOptions, startSim } from "./simulation.ts";
