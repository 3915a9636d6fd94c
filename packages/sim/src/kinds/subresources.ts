/** What is done with requests to subresources: "pods/binding", "scale" … "status" is the server's own affair. */
import type { SubresourceHandler } from "../api/api-server.ts";
import { approve } from "./subresources/approval.ts";
import { bindPod } from "./subresources/binding.ts";
import { evictPod } from "./subresources/eviction.ts";
import { finalizeNamespace } from "./subresources/finalize.ts";
import { ephemeralContainers, resize } from "./subresources/pod-parts.ts";
import { scale } from "./subresources/scale.ts";

export const subresources: Readonly<Record<string, SubresourceHandler>> = {
  "certificatesigningrequests/approval": approve,
  "namespaces/finalize": finalizeNamespace,
  "pods/binding": bindPod,
  "pods/ephemeralcontainers": ephemeralContainers,
  "pods/eviction": evictPod,
  "pods/resize": resize,
  scale,
};
