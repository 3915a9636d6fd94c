/** Reference documentation of a resource, made from its schema: pure, from definition to Markdown. */
import type { Resource, ResourceOptions } from "./define-resource.ts";
import type { StructuralSchema } from "./structural.ts";

type Options = Pick<ResourceOptions<never, never>, "description" | "shortNames">;

export function documentation(
  resource: Pick<Resource, "kind" | "apiVersion" | "namespaced" | "plural" | "schema">,
  options: Options,
): string {
  const { kind, apiVersion, namespaced, plural, schema } = resource;
  const names = [plural, ...(options.shortNames ?? [])].map((name) => `\`${name}\``).join(", ");
  const fields = ["spec", "status"].flatMap((part) => {
    const partSchema = schema.properties?.[part];
    return partSchema ? fieldRows(partSchema, part, isRequired(schema, part)) : [];
  });
  return [
    `# ${kind}`,
    "",
    ...(options.description ? [options.description, ""] : []),
    `\`apiVersion: ${apiVersion}\`, \`kind: ${kind}\`, ${namespaced ? "namespaced" : "cluster-wide"}; for kubectl: ${names}.`,
    "",
    "| Field | Type | Default | Description |",
    "|---|---|---|---|",
    ...fields,
    "",
    ...rulesOf(schema, ""),
  ]
    .join("\n")
    .trimEnd()
    .concat("\n");
}

function fieldRows(schema: StructuralSchema, path: string, required: boolean): string[] {
  const fallback = schema.default === undefined ? "" : `\`${JSON.stringify(schema.default)}\``;
  const name = `\`${path}\`${required && schema.default === undefined ? " *" : ""}`;
  const row = `| ${name} | ${typeText(schema)} | ${fallback} | ${oneLine(schema.description ?? "")} |`;
  const inside = Object.entries(schema.properties ?? {}).flatMap(([key, value]) =>
    fieldRows(value, `${path}.${key}`, isRequired(schema, key)),
  );
  const items = schema.items?.properties ? fieldRows(schema.items, `${path}[]`, false).slice(1) : [];
  const values = schema.additionalProperties?.properties
    ? fieldRows(schema.additionalProperties, `${path}[*]`, false).slice(1)
    : [];
  return [row, ...inside, ...items, ...values];
}

function typeText(schema: StructuralSchema): string {
  if (schema["x-kubernetes-int-or-string"]) return "integer or string";
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(", ");
  const limits = limitsText(schema);
  if (schema.type === "array") return `list of ${typeText(schema.items ?? {})}${limits}`;
  if (schema.additionalProperties) return `map of ${typeText(schema.additionalProperties)}${limits}`;
  return `${schema.type ?? "anything"}${limits}`;
}

function limitsText(schema: StructuralSchema): string {
  const limits = [
    schema.minimum !== undefined && `${schema.exclusiveMinimum ? ">" : "≥"} ${schema.minimum}`,
    schema.maximum !== undefined && `${schema.exclusiveMaximum ? "<" : "≤"} ${schema.maximum}`,
    schema.minLength !== undefined && `at least ${schema.minLength} characters`,
    schema.maxLength !== undefined && `at most ${schema.maxLength} characters`,
    schema.pattern !== undefined && `matching \`${schema.pattern.replaceAll("|", "\\|")}\``,
    schema.minItems !== undefined && `at least ${schema.minItems}`,
    schema.maxItems !== undefined && `at most ${schema.maxItems}`,
  ].filter(Boolean);
  return limits.length > 0 ? `, ${limits.join(", ")}` : "";
}

/** All rules of the schema, with where they apply. */
function rulesOf(schema: StructuralSchema, path: string): string[] {
  const here = (schema["x-kubernetes-validations"] ?? []).map(
    ({ rule, message }) => `- ${path ? `\`${path}\`: ` : ""}${message ?? `\`${rule}\``}`,
  );
  const inside = Object.entries(schema.properties ?? {}).flatMap(([key, value]) =>
    rulesOf(value, path ? `${path}.${key}` : key),
  );
  return [...here, ...inside, ...(schema.items ? rulesOf(schema.items, `${path}[]`) : [])];
}

function isRequired(schema: StructuralSchema, key: string): boolean {
  return schema.required?.includes(key) ?? false;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|");
}
