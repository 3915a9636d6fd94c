/** What an object is, said in the object. */
import type { Kind } from "../objects/meta.ts";

/** With `apiVersion` and `kind`, which the API server wants to see in what it is sent. */
export function typed<T extends object>({ apiVersion, kind }: Kind, object: T): T {
  return "apiVersion" in object && "kind" in object ? object : { apiVersion, kind, ...object };
}
