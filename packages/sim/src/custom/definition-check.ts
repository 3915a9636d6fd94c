/** Whether a definition is one: names, versions, and what each version says. In the words of the real server. */
import type { FieldErrors } from "../api/field-errors.ts";
import { nameProblems, subdomainProblems } from "../api/names.ts";
import { APPROVED, approvalOf, isProtected } from "./approval.ts";
import { type Definition, type Names, placesOf, type Version } from "./definition.ts";
import { followPath } from "./field-path.ts";
import { checkSchema } from "./schema-check.ts";

const MOST_SELECTABLE = 8;
const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/** Adds what is wrong. @param before - The definition as it was, if this is a change. */
export function checkDefinition(definition: Definition, before: Definition | undefined, errors: FieldErrors): void {
  const { metadata, spec, status } = definition;
  if (!before && metadata.name && metadata.name !== `${spec.names.plural}.${spec.group}`) {
    errors.invalid("metadata.name", metadata.name, 'must be spec.names.plural+"."+spec.group');
  }
  checkSpec(definition, errors);
  if (before) checkChange(definition, before, errors);
  checkNames(status?.acceptedNames ?? EMPTY_NAMES, "status.acceptedNames", errors);
  checkStoredVersions(status?.storedVersions ?? [], spec.versions ?? [], errors);
  checkApproval(definition, before, errors);
  if (spec.preserveUnknownFields && !before?.spec.preserveUnknownFields) {
    const why =
      "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
    errors.invalid("spec.preserveUnknownFields", true, why);
  }
}

const EMPTY_NAMES: Names = { plural: "", kind: "" };

function checkSpec({ spec }: Definition, errors: FieldErrors): void {
  checkGroup(spec.group, errors);
  if (!spec.scope) errors.required("spec.scope");
  else if (!["Cluster", "Namespaced"].includes(spec.scope)) {
    errors.notSupported("spec.scope", spec.scope, ["Cluster", "Namespaced"]);
  }
  const versions = spec.versions ?? [];
  for (const [index, version] of versions.entries()) {
    if (!version.schema?.openAPIV3Schema) errors.required(`spec.versions[${index}].schema.openAPIV3Schema`);
  }
  for (const [index, { name, deprecated, deprecationWarning }] of versions.entries()) {
    const problems = nameProblems(name, "label1035").join(",");
    if (problems) errors.invalid(`spec.versions[${index}].name`, name, problems);
    if (deprecationWarning !== undefined && !deprecated) {
      const why = "can only be set for deprecated versions";
      errors.invalid(`spec.versions[${index}].deprecationWarning`, deprecationWarning, why);
    }
  }
  const isNotHoisted = (path: string) => path.startsWith("spec.versions");
  checkParts(versions, isNotHoisted, errors);
  const shown = versions.map(shownVersion);
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.invalid("spec.versions", shown, "must contain unique version names");
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    const why = "must have exactly one version marked as storage version";
    errors.invalid("spec.versions", spec.versions === null ? null : shown, why);
  }
  const firstProblems = versions[0] ? nameProblems(versions[0].name, "label1035").join(",") : "";
  if (firstProblems) errors.invalid("spec.version", versions[0]?.name, firstProblems);
  for (const name of ["plural", "singular", "kind", "listKind"] as const) {
    if (!spec.names[name]) errors.required(`spec.names.${name}`);
  }
  checkNames(spec.names, "spec.names", errors);
  checkParts(versions, (path) => !isNotHoisted(path), errors);
  checkConversion(spec.conversion, errors);
}

function checkGroup(group: string, errors: FieldErrors): void {
  if (!group) {
    errors.required("spec.group");
    return;
  }
  const problems = subdomainProblems(group).join(",");
  if (problems) errors.invalid("spec.group", group, problems);
  else if (!group.includes(".")) errors.invalid("spec.group", group, "should be a domain with at least one dot");
}

/** As the real server shows it: what is common to all versions does not stand here there. */
function shownVersion({ name, served, storage, deprecated = false, deprecationWarning }: Version) {
  return {
    Name: name,
    Served: served,
    Storage: storage,
    Deprecated: deprecated,
    DeprecationWarning: deprecationWarning ?? null,
    ...{ Schema: null, Subresources: null, AdditionalPrinterColumns: null, SelectableFields: null },
  };
}

function checkParts(versions: readonly Version[], isMeant: (path: string) => boolean, errors: FieldErrors): void {
  for (const { version, value, path } of placesOf(versions, "schema").filter((each) => isMeant(each.path))) {
    const schema = value.openAPIV3Schema;
    if (schema) checkSchema(schema, version.subresources?.status !== undefined, `${path}.openAPIV3Schema`, errors);
  }
  for (const { value, path } of placesOf(versions, "subresources").filter((each) => isMeant(each.path))) {
    if (value.scale) checkScale(value.scale, `${path}.scale`, errors);
  }
  for (const { value, path } of placesOf(versions, "additionalPrinterColumns").filter((each) => isMeant(each.path))) {
    for (const [index, column] of value.entries()) checkColumn(column, `${path}[${index}]`, errors);
  }
  for (const { version, value, path } of placesOf(versions, "selectableFields").filter((each) => isMeant(each.path))) {
    checkSelectable(value, version, path, errors);
  }
}

type Scale = NonNullable<NonNullable<Version["subresources"]>["scale"]>;

function checkScale(
  { specReplicasPath, statusReplicasPath, labelSelectorPath }: Scale,
  path: string,
  errors: FieldErrors,
) {
  const checkOne = (field: string, value: string, under: readonly string[], place: string) => {
    if (value === "") errors.required(`${path}.${field}`);
    else if (!checkSimplePath(value, `${path}.${field}`, errors)) return;
    else if (!under.some((part) => value.startsWith(part))) {
      errors.invalid(`${path}.${field}`, value, `should be a json path under ${place}`);
    }
  };
  checkOne("specReplicasPath", specReplicasPath, [".spec."], ".spec");
  checkOne("statusReplicasPath", statusReplicasPath, [".status."], ".status");
  if (labelSelectorPath) {
    checkOne("labelSelectorPath", labelSelectorPath, [".spec.", ".status."], "either .spec or .status");
  }
}

function checkSimplePath(path: string, field: string, errors: FieldErrors): boolean {
  if (path.startsWith(".")) return true;
  errors.invalid(field, path, "must be a simple json path starting with .");
  return false;
}

type ColumnDefinition = NonNullable<Version["additionalPrinterColumns"]>[number];

function checkColumn({ name, type, format, jsonPath }: ColumnDefinition, path: string, errors: FieldErrors): void {
  const types = `must be one of ${COLUMN_TYPES.join(",")}`;
  if (!name) errors.required(`${path}.name`);
  if (!type) errors.required(`${path}.type`, types);
  else if (!COLUMN_TYPES.includes(type)) errors.invalid(`${path}.type`, type, types);
  if (format && !COLUMN_FORMATS.includes(format)) {
    errors.invalid(`${path}.format`, format, `must be one of ${COLUMN_FORMATS.join(",")}`);
  }
  if (!jsonPath) errors.required(`${path}.JSONPath`);
  else checkSimplePath(jsonPath, `${path}.JSONPath`, errors);
}

type SelectableField = NonNullable<Version["selectableFields"]>[number];

function checkSelectable(
  fields: readonly SelectableField[],
  { schema }: Version,
  path: string,
  errors: FieldErrors,
): void {
  const seen = new Set<string>();
  for (const [index, { jsonPath }] of fields.entries()) {
    const place = `${path}[${index}].jsonPath`;
    if (!jsonPath) {
      errors.required(place);
      continue;
    }
    const found = followPath(jsonPath, schema?.openAPIV3Schema ?? {}, { brackets: false });
    if ("problem" in found) {
      errors.invalid(place, jsonPath, `is an invalid path: ${found.problem}`);
      continue;
    }
    if (found.steps[0] === "metadata") errors.invalid(place, jsonPath, "must not point to fields in metadata");
    if (!["string", "boolean", "integer"].includes(found.schema.type ?? "")) {
      const why =
        "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
      errors.invalid(place, jsonPath, why);
    }
    const key = found.steps.join(".");
    if (seen.has(key)) errors.duplicate(place, jsonPath);
    seen.add(key);
  }
  if (seen.size > MOST_SELECTABLE) errors.tooMany(path, seen.size, MOST_SELECTABLE);
}

function checkNames(names: Names, path: string, errors: FieldErrors): void {
  const check = (field: string, value: string | undefined, mixed = false) => {
    const problems = value ? nameProblems(mixed ? value.toLowerCase() : value, "label1035").join(",") : "";
    if (!problems) return;
    const why = mixed ? `may have mixed case, but should otherwise match: ${problems}` : problems;
    errors.invalid(`${path}.${field}`, value, why);
  };
  check("plural", names.plural);
  check("singular", names.singular);
  check("kind", names.kind, true);
  check("listKind", names.listKind, true);
  for (const [index, each] of names.shortNames?.entries() ?? []) check(`shortNames[${index}]`, each);
  if (names.kind && names.kind === names.listKind) {
    errors.invalid(`${path}.listKind`, names.listKind, "kind and listKind may not be the same");
  }
  for (const [index, each] of names.categories?.entries() ?? []) check(`categories[${index}]`, each);
}

function checkConversion(conversion: Definition["spec"]["conversion"], errors: FieldErrors): void {
  if (!conversion) return;
  const { strategy, webhook } = conversion;
  if (!strategy) errors.required("spec.conversion.strategy");
  else if (!["None", "Webhook"].includes(strategy)) {
    errors.notSupported("spec.conversion.strategy", strategy, ["None", "Webhook"]);
  }
  if (strategy === "Webhook") {
    if (!webhook?.clientConfig) {
      errors.required("spec.conversion.webhookClientConfig", "required when strategy is set to Webhook");
    }
    if (!webhook?.conversionReviewVersions?.length) errors.required("spec.conversion.conversionReviewVersions");
  } else if (webhook?.clientConfig) {
    const why = "should not be set when strategy is not set to Webhook";
    errors.forbidden("spec.conversion.webhookClientConfig", why);
  }
}

function checkChange({ spec }: Definition, before: Definition, errors: FieldErrors): void {
  const check = (field: string, value: string, old: string) => {
    if (value !== old) errors.invalid(`spec.${field}`, value, "field is immutable");
  };
  if (before.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True")) {
    check("scope", spec.scope, before.spec.scope);
    check("names.kind", spec.names.kind, before.spec.names.kind);
  }
  check("group", spec.group, before.spec.group);
  check("names.plural", spec.names.plural, before.spec.names.plural);
}

function checkStoredVersions(stored: readonly string[], versions: readonly Version[], errors: FieldErrors): void {
  if (stored.length === 0) {
    errors.invalid("status.storedVersions", null, "must have at least one stored version");
    return;
  }
  for (const { name, storage } of versions) {
    if (storage && !stored.includes(name)) {
      errors.invalid("status.storedVersions", stored, `must have the storage version ${name}`);
    }
  }
  for (const [index, name] of stored.entries()) {
    if (versions.some((version) => version.name === name)) continue;
    const why = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.invalid(`status.storedVersions[${index}]`, name, why);
  }
}

function checkApproval({ metadata, spec }: Definition, before: Definition | undefined, errors: FieldErrors): void {
  if (!isProtected(spec.group)) return;
  const { state, reason } = approvalOf(metadata.annotations);
  if (before && approvalOf(before.metadata.annotations).state === state) return;
  const field = `metadata.annotations[${APPROVED}]`;
  if (state === "missing") errors.required(field, reason);
  if (state === "invalid") errors.invalid(field, metadata.annotations?.[APPROVED], reason);
}
