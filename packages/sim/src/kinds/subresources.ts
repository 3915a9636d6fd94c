/** What is done with requests to subresources: "pods/binding", "scale" … "status" is the server's own affair. */
import type { SubresourceHandler } from "../api/api-server.ts";

export const subresources: Readonly<Record<string, SubresourceHandler>> = {};
