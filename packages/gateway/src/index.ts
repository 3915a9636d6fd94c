/** The interface for external schedulers and people. @packageDocumentation */
export { errorCatalogue, GatewayError, type GatewayErrorCode } from "./errors.ts";
export { Gateway, type GatewayOptions } from "./gateway.ts";
export type { Limits } from "./http/server.ts";
export { GATEWAY, type GatewayInstallationOptions, gatewayInstallation } from "./installation.ts";
export { clusterRules, namespacedRules } from "./rights.ts";
