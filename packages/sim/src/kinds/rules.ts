/** The rules of Kubernetes' own kinds, by group and plural. Kinds without any are stored as they come. */
import type { Rules } from "../api/resource.ts";

export const rules: Readonly<Record<string, Rules>> = {};
