export { errorCatalogue, GatewayError, type GatewayErrorCode } from "./errors.ts";
