/** What `kubectl get` shows of Kubernetes' own kinds, by group and plural. Others show name and age. */
import type { Column } from "../api/resource.ts";

export const columns: Readonly<Record<string, readonly Column[]>> = {};
