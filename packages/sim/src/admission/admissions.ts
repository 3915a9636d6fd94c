/** What stands between a client's wish and its object, in the order of the real API server. */
import type { Admission } from "../api/write.ts";
import { defaultStorageClass } from "./default-storage-class.ts";
import { defaultTolerations } from "./default-tolerations.ts";
import { limitRanger } from "./limit-ranger.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import { nodeTaint } from "./node-taint.ts";
import { priority } from "./priority.ts";
import { resourceQuota } from "./resource-quota.ts";
import { runtimeClass } from "./runtime-class.ts";
import { serviceAccount } from "./service-account.ts";
import { topologyLabels } from "./topology-labels.ts";

export const admissions: readonly Admission[] = [
  namespaceLifecycle,
  limitRanger,
  serviceAccount,
  nodeTaint,
  priority,
  defaultTolerations,
  defaultStorageClass,
  runtimeClass,
  topologyLabels,
  resourceQuota,
];
