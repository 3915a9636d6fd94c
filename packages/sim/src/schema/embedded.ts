/** Objects inside of custom resources that are resources themselves: they must say what they are. */
import type { ObjectMeta } from "@berth/kube";
import type { FieldErrors } from "../api/field-errors.ts";
import { isObject, type JsonObject } from "../api/json.ts";
import { checkAnnotations, checkLabels, nameProblems } from "../api/names.ts";
import type { SchemaNode } from "./schema.ts";
import { somewhere } from "./walk.ts";

/** Adds what is wrong with embedded resources, wherever there are any. */
export function checkEmbedded(value: unknown, node: SchemaNode | undefined, path: string, errors: FieldErrors): void {
  if (!node || !hasEmbedded(node)) return;
  if (Array.isArray(value)) {
    if (node.type !== "array") return;
    for (const [index, item] of value.entries()) checkEmbedded(item, node.element, `${path}[${index}]`, errors);
  } else if (isObject(value)) {
    if (node.embedded) checkOne(value, path, errors);
    for (const key in value) {
      const field = node.fields?.[key];
      if (field) checkEmbedded(value[key], field, path === "" ? key : `${path}.${key}`, errors);
      else if (node.type === "map") checkEmbedded(value[key], node.element, `${path}[${key}]`, errors);
    }
  }
}

function checkOne({ apiVersion, kind, metadata }: JsonObject, path: string, errors: FieldErrors): void {
  if (apiVersion === undefined) errors.required(`${path}.apiVersion`);
  else if (apiVersion === "") errors.invalid(`${path}.apiVersion`, "", "must not be empty");
  else if (String(apiVersion).split("/").length > 2) {
    errors.invalid(`${path}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  }
  if (kind === undefined) errors.required(`${path}.kind`);
  else if (kind === "") errors.invalid(`${path}.kind`, "", "must not be empty");
  else {
    const problems = nameProblems(String(kind).toLowerCase(), "label1035").join(",");
    if (problems) {
      errors.invalid(`${path}.kind`, kind, `may have mixed case, but should otherwise match: ${problems}`);
    }
  }
  if (!isObject(metadata)) return;
  const { name = "", labels, annotations } = metadata as ObjectMeta;
  for (const problem of nameProblems(name, "segment")) errors.invalid(`${path}.metadata.name`, name, problem);
  checkLabels(labels, `${path}.metadata.labels`, errors);
  checkAnnotations(annotations, `${path}.metadata.annotations`, errors);
}

const hasEmbedded = somewhere(({ embedded }) => embedded === true);
