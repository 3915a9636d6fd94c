/** What an object is after a patch; of whatever type but server-side apply. */
import type { ApiRequest } from "@berth/kube";
import type { AnyObject } from "../api/json.ts";
import { unsupportedMediaType } from "../api/refusal.ts";
import type { Resource } from "../api/resource.ts";

/** `before` with the patch applied; a new object, which may share parts with `before` and with the patch. */
export function patched(_before: AnyObject, { patchType }: ApiRequest, _resource: Resource): unknown {
  throw unsupportedMediaType(`no patches of type ${patchType}`);
}
