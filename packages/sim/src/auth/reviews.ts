/**
 * Questions that look like objects: who am I, whose token is this, may this user do that? They are answered and not stored.
 */
import { FieldErrors } from "../api/field-errors.ts";
import type { AnyObject } from "../api/json.ts";
import { at, mapAt, textAt, textsAt } from "../api/reading.ts";
import { badRequest } from "../api/refusal.ts";
import type { Lookup, User, WriteContext } from "../api/resource.ts";
import type { Attributes } from "./attributes.ts";
import { authorize, rulesFor } from "./rbac.ts";
import type { TokenHolder } from "./tokens.ts";

/** Tells whose token something is; a text says why it is nobody's. */
export type AskToken = (token: string, audiences: readonly string[]) => TokenHolder | string | undefined;

/** The real server forgets what it refuses. */
const NAMELESS = { group: "authorization.k8s.io", kind: "" };

type Answer = (object: AnyObject, context: WriteContext) => AnyObject;

/** How each kind of question is answered, by group and plural. */
export function answers(askToken: AskToken): Readonly<Record<string, Answer>> {
  return {
    "authentication.k8s.io/tokenreviews": (review) => tokenReview(review, askToken),
    "authentication.k8s.io/selfsubjectreviews": (review, { user, time }) => ({
      ...review,
      metadata: { creationTimestamp: time },
      status: { userInfo: userInfo(user) },
    }),
    "authorization.k8s.io/subjectaccessreviews": (review, { lookup }) => {
      const errors = new FieldErrors();
      checkWanted(review, errors);
      checkSubject(review, errors);
      errors.throwIfAny(NAMELESS, "");
      return decided(review, subjectOf(review), lookup);
    },
    "authorization.k8s.io/localsubjectaccessreviews": (review, { lookup }) => {
      const errors = new FieldErrors();
      checkWanted(review, errors);
      checkSubject(review, errors);
      checkLocal(review, errors);
      errors.throwIfAny(NAMELESS, "");
      return decided(review, subjectOf(review), lookup);
    },
    "authorization.k8s.io/selfsubjectaccessreviews": (review, { user, lookup }) => {
      const errors = new FieldErrors();
      checkWanted(review, errors);
      errors.throwIfAny(NAMELESS, "");
      return decided(review, user, lookup);
    },
    "authorization.k8s.io/selfsubjectrulesreviews": (review, { user, lookup }) => rulesReview(review, user, lookup),
  };
}

function tokenReview(review: AnyObject, askToken: AskToken): AnyObject {
  const token = textAt(review, "spec", "token");
  if (token === "") throw badRequest("token is required for TokenReview in authentication");
  const holder = askToken(token, textsAt(review, "spec", "audiences"));
  const status =
    holder === undefined || typeof holder === "string"
      ? { user: {}, error: holder === undefined ? "invalid bearer token" : `[invalid bearer token, ${holder}]` }
      : { authenticated: true, user: userInfo(holder.user), audiences: holder.audiences };
  return { ...review, status };
}

function userInfo({ username, uid, groups, extra }: User): object {
  return { username, ...(uid && { uid }), groups, ...(extra && { extra }) };
}

function checkSubject(review: AnyObject, errors: FieldErrors): void {
  const user = textAt(review, "spec", "user");
  if (user === "" && textsAt(review, "spec", "groups").length === 0) {
    errors.invalid("spec.user", user, "at least one of user or group must be specified");
  }
}

function checkWanted(review: AnyObject, errors: FieldErrors): void {
  const [resource, path] = [at(review, "spec", "resourceAttributes"), at(review, "spec", "nonResourceAttributes")];
  if (resource !== undefined && path !== undefined) {
    const why = "cannot be specified in combination with resourceAttributes";
    errors.invalid("spec.nonResourceAttributes", path, why);
  } else if (resource === undefined && path === undefined) {
    const why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    errors.invalid("spec.resourceAttributes", null, why);
  }
}

function checkLocal(review: AnyObject, errors: FieldErrors): void {
  const attributes = at(review, "spec", "resourceAttributes");
  const namespace = textAt(attributes, "namespace");
  if (attributes !== undefined && namespace !== (review.metadata.namespace ?? "")) {
    errors.invalid("spec.resourceAttributes.namespace", namespace, "must match metadata.namespace");
  }
  const path = at(review, "spec", "nonResourceAttributes");
  if (path !== undefined) {
    errors.invalid("spec.nonResourceAttributes", path, "disallowed on this kind of request");
  }
}

function subjectOf(review: AnyObject): User {
  const extra = Object.keys(mapAt(review, "spec", "extra")).map((key) => [key, textsAt(review, "spec", "extra", key)]);
  return {
    username: textAt(review, "spec", "user"),
    uid: textAt(review, "spec", "uid"),
    groups: textsAt(review, "spec", "groups"),
    extra: Object.fromEntries(extra),
  };
}

function attributesOf(review: AnyObject, user: User): Attributes {
  const path = at(review, "spec", "nonResourceAttributes");
  if (path !== undefined) return { user, verb: textAt(path, "verb"), path: textAt(path, "path") };
  const wanted = at(review, "spec", "resourceAttributes");
  return {
    user,
    verb: textAt(wanted, "verb"),
    group: textAt(wanted, "group"),
    resource: textAt(wanted, "resource"),
    subresource: textAt(wanted, "subresource"),
    namespace: textAt(wanted, "namespace"),
    name: textAt(wanted, "name"),
  };
}

function decided(review: AnyObject, user: User, lookup: Lookup): AnyObject {
  const { allowed, reason } = authorize(attributesOf(review, user), lookup);
  return { ...review, status: { allowed, ...(reason && { reason }) } };
}

function rulesReview(review: AnyObject, user: User, lookup: Lookup): AnyObject {
  const namespace = textAt(review, "spec", "namespace");
  if (namespace === "") throw badRequest("no namespace on request");
  const errors: string[] = [];
  const rules = rulesFor(user, namespace, lookup, errors);
  const resourceRules = rules
    .filter(({ resources }) => resources.length > 0)
    .map(({ verbs, apiGroups, resources, resourceNames }) => ({
      verbs,
      apiGroups,
      resources,
      ...(resourceNames.length > 0 && { resourceNames }),
    }));
  const nonResourceRules = rules
    .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
    .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs }));
  return {
    ...review,
    metadata: {},
    spec: {},
    status: {
      resourceRules,
      nonResourceRules,
      incomplete: false,
      ...(errors.length > 0 && { evaluationError: errors.join(", ") }),
    },
  };
}
