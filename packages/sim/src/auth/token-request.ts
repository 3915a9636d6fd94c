/** `kubectl create token`: requests to "serviceaccounts/token". The answer has the token; nothing is stored. */
import { coreV1, kubernetesTime } from "@berth/kube";
import type { SubresourceCall } from "../api/api-server.ts";
import { FieldErrors, invalidObject } from "../api/field-errors.ts";
import { type AnyObject, isObject, type JsonObject } from "../api/json.ts";
import { uuid } from "../api/metadata.ts";
import { at, textAt, textsAt } from "../api/reading.ts";
import { badRequest, conflict, notFound } from "../api/refusal.ts";
import type { WriteContext } from "../api/resource.ts";
import { type Bound, DEFAULT_AUDIENCES, type Tokens } from "./tokens.ts";

const KIND = { group: "authentication.k8s.io", kind: "TokenRequest" };
const DEFAULT_SECONDS = 3600;
const LEAST_SECONDS = 600;
const MOST_SECONDS = 2 ** 32;

export function requestToken({ api, request, object: account, context }: SubresourceCall, tokens: Tokens): AnyObject {
  const { body } = request;
  if (!isObject(body)) throw badRequest("the body of the request must be a TokenRequest");
  const { name = "", namespace = "", uid } = account.metadata;
  checkMeant(body, account);
  const audiences = textsAt(body, "spec", "audiences");
  const seconds = at(body, "spec", "expirationSeconds") ?? DEFAULT_SECONDS;
  checkExpiration(seconds);
  const spec = {
    audiences: audiences.length > 0 ? audiences : [...DEFAULT_AUDIENCES],
    expirationSeconds: seconds,
    boundObjectRef: at(body, "spec", "boundObjectRef") ?? null,
  };
  const bound = boundObject(spec.boundObjectRef, account, context);
  const now = Math.floor(api.clock.now() / 1000);
  const token = tokens.issue({
    account,
    audiences: spec.audiences,
    bound,
    node: bound?.kind === "Pod" ? nodeOf(bound.object, context) : undefined,
    id: uuid(context.random),
    now,
    expires: now + seconds,
  });
  return {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name, namespace, ...(uid !== undefined && { uid }), creationTimestamp: context.time },
    spec,
    status: { token, expirationTimestamp: kubernetesTime((now + seconds) * 1000) },
  };
}

function checkMeant(body: JsonObject, account: AnyObject): void {
  const { name = "", namespace = "", uid } = account.metadata;
  const errors = new FieldErrors();
  const [askedName, askedNamespace] = [textAt(body, "metadata", "name"), textAt(body, "metadata", "namespace")];
  if (askedName && askedName !== name) {
    errors.invalid("metadata.name", askedName, "must match the service account name if specified");
  } else if (askedNamespace && askedNamespace !== namespace) {
    errors.invalid("metadata.namespace", askedNamespace, "must match the service account namespace if specified");
  }
  errors.throwIfAny(KIND, name);
  const askedUid = textAt(body, "metadata", "uid");
  if (askedUid && askedUid !== uid) {
    const why = `the UID in the token request (${askedUid}) does not match the UID of the service account (${uid})`;
    throw conflict({ group: KIND.group, plural: KIND.kind }, name, why);
  }
}

function checkExpiration(seconds: unknown): asserts seconds is number {
  if (typeof seconds !== "number" || !Number.isInteger(seconds)) {
    throw badRequest(`spec.expirationSeconds must be a whole number, not ${JSON.stringify(seconds)}`);
  }
  const [least, most] = [seconds < LEAST_SECONDS, seconds > MOST_SECONDS];
  if (!least && !most) return;
  const why = least ? "less than 10 minutes" : "larger than 2^32 seconds";
  const message = `Invalid value: ${seconds}: may not specify a duration ${why}`;
  throw invalidObject(KIND, "", [{ reason: "FieldValueInvalid", message, field: "spec.expirationSeconds" }]);
}

const BINDABLE = { Pod: coreV1.Pod, Node: coreV1.Node, Secret: coreV1.Secret } as const;

function boundObject(reference: unknown, { metadata }: AnyObject, { lookup }: WriteContext): Bound | undefined {
  if (reference === null) return undefined;
  const [apiVersion, kind, name] = ["apiVersion", "kind", "name"].map((field) => textAt(reference, field));
  if ((apiVersion !== "v1" && apiVersion !== "") || (kind !== "Pod" && kind !== "Node" && kind !== "Secret")) {
    throw badRequest(`cannot bind token to object of type ${apiVersion}, Kind=${kind}`);
  }
  const type = BINDABLE[kind];
  const object = lookup.get<AnyObject>(type, name ?? "", type.namespaced ? metadata.namespace : undefined);
  if (!object) throw notFound(type, name ?? "");
  if (kind === "Pod" && textAt(object, "spec", "serviceAccountName") !== metadata.name) {
    const which = JSON.stringify(metadata.name);
    throw badRequest(
      `cannot bind token for serviceaccount ${which} to pod running with different serviceaccount name.`,
    );
  }
  const uid = textAt(reference, "uid");
  if (uid && uid !== object.metadata.uid) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: "", plural: kind }, name ?? "", why);
  }
  return { kind, object };
}

function nodeOf(pod: AnyObject, { lookup }: WriteContext) {
  const name = textAt(pod, "spec", "nodeName");
  return name ? { name, uid: lookup.get<AnyObject>(coreV1.Node, name)?.metadata.uid } : undefined;
}
