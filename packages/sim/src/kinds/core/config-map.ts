/** The rules of config maps and secrets. */
import type { coreV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import { define, equal } from "../../api/json.ts";
import type { Rules } from "../../api/resource.ts";
import { checkUnchanged, configKeyProblems } from "../common/formats.ts";
import type { LooseObject } from "../common/loose.ts";
import { isEmptyMap, own } from "../common/maps.ts";

type ConfigMap = LooseObject<coreV1.ConfigMap>;
type Secret = LooseObject<coreV1.Secret>;
type Data = { readonly [key: string]: string | undefined } | undefined;

const LARGEST = 1024 * 1024;
const FIXED = "field is immutable when `immutable` is set";

export const configMapRules: Rules = {
  validate: (map: ConfigMap, errors) => checkConfigMap(map, errors),
  validateUpdate: (map: ConfigMap, before: ConfigMap, errors) => {
    if (before.immutable) {
      if (!map.immutable) errors.forbidden("immutable", FIXED);
      if (!equal(map.data, before.data)) errors.forbidden("data", FIXED);
      if (!equal(map.binaryData, before.binaryData)) errors.forbidden("binaryData", FIXED);
    }
    checkConfigMap(map, errors);
  },
};

function checkConfigMap({ data, binaryData }: ConfigMap, errors: FieldErrors): void {
  let size = 0;
  for (const key in data) {
    checkKey(key, "data", errors);
    if (own(binaryData, key) !== undefined) {
      errors.invalid(`data[${key}]`, key, "duplicate of key present in binaryData");
    }
    size += Buffer.byteLength(data[key] as string);
  }
  for (const key in binaryData) {
    checkKey(key, "binaryData", errors);
    size += decodedLength(binaryData[key] as string);
  }
  if (size > LARGEST) errors.tooLong("", LARGEST);
}

function checkKey(key: string, field: string, errors: FieldErrors): void {
  for (const problem of configKeyProblems(key)) errors.invalid(`${field}[${key}]`, key, problem);
}

/** How many bytes stand behind a text in base 64. */
function decodedLength(text: string): number {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}

export const secretRules: Rules = {
  default: (secret: Secret) => {
    secret.type ||= "Opaque";
    // What is given as text is stored like the rest.
    if (!isEmptyMap(secret.stringData)) {
      secret.data ??= {};
      for (const key in secret.stringData) {
        define(secret.data, key, Buffer.from(secret.stringData[key] as string).toString("base64"));
      }
    }
    delete secret.stringData;
  },
  validate: (secret: Secret, errors) => checkSecret(secret, errors),
  validateUpdate: (secret: Secret, before: Secret, errors) => {
    checkUnchanged(secret.type === before.type, secret.type, "type", errors);
    if (before.immutable) {
      if (!secret.immutable) errors.forbidden("immutable", FIXED);
      if (!equal(secret.data, before.data)) errors.forbidden("data", FIXED);
    }
    checkSecret(secret, errors);
  },
  fields: ({ type = "" }: Secret) => ({ type }),
};

/** What secrets of these types must have. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
};

function checkSecret({ data, type = "", metadata }: Secret, errors: FieldErrors): void {
  let size = 0;
  for (const key in data) {
    checkKey(key, "data", errors);
    size += decodedLength(data[key] as string);
  }
  if (size > LARGEST) errors.tooLong("data", LARGEST);
  for (const key of own(REQUIRED, type) ?? []) {
    const value = own(data as Data, key);
    if (value === undefined) errors.required(`data[${key}]`);
    else if (key.startsWith(".docker") && !isJsonObject(value)) {
      errors.invalid(`data[${key}]`, "<secret contents redacted>", "invalid character in JSON text");
    }
  }
  const account = "kubernetes.io/service-account.name";
  if (type === "kubernetes.io/service-account-token" && !own(metadata.annotations, account)) {
    errors.required(`metadata.annotations[${account}]`);
  }
  const isLogin = type === "kubernetes.io/basic-auth";
  if (isLogin && own(data, "username") === undefined && own(data, "password") === undefined) {
    errors.required("data[username]");
    errors.required("data[password]");
  }
  if (type === "kubernetes.io/ssh-auth" && !own(data, "ssh-privatekey")) errors.required("data[ssh-privatekey]");
}

function isJsonObject(base64: string): boolean {
  try {
    const value: unknown = JSON.parse(Buffer.from(base64, "base64").toString());
    return typeof value === "object" && !Array.isArray(value);
  } catch {
    return false;
  }
}
