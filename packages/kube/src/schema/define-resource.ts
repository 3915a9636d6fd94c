/** A kind of resource, defined once: its type, its custom resource definition, its validator and its documentation. */
import type { z } from "zod";
import type { CustomResourceDefinition, ValidationRule } from "../kinds/apiextensions-v1.ts";
import type { ObjectMeta, WritableKind } from "../objects/meta.ts";
import { documentation } from "./documentation.ts";
import { notStructural, type StructuralSchema, toStructural } from "./structural.ts";
import { compileValidator, type Violation } from "./validator.ts";

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly jsonPath: string;
  readonly description?: string;
  /** Above 0 it is shown only with `-o wide`. Default: 0. */
  readonly priority?: number;
}

/** What a kind of resource consists of. */
export interface ResourceOptions<Spec extends z.ZodObject, Status extends z.ZodObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Default: the kind in lower case with an "s". */
  readonly plural?: string;
  readonly scope?: "Namespaced" | "Cluster";
  readonly description?: string;
  readonly spec: Spec;
  /** With a status comes the status subresource: clients cannot write it by accident. Default: none. */
  readonly status?: Status;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly printerColumns?: readonly PrinterColumn[];
  /** Rules in CEL on the whole object, where `self` is the object. */
  readonly rules?: readonly ValidationRule[];
}

/** An object of a defined kind. */
export interface ResourceObject<Spec, Status> {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: Spec;
  status?: Status;
}

/** A kind of resource, defined: what `defineResource` makes. */
export interface Resource<Spec extends z.ZodObject = z.ZodObject, Status extends z.ZodObject = z.ZodObject>
  extends WritableKind<
    ResourceObject<z.output<Spec>, z.output<Status>>,
    ResourceObject<z.input<Spec>, z.input<Status>>
  > {
  /** The schema of the whole object, as the custom resource definition has it. */
  readonly schema: StructuralSchema;
  /** The custom resource definition, to be applied to a cluster. */
  crd(): CustomResourceDefinition;
  /** What is wrong with an object; empty if nothing is. Rules in CEL are the API server's business. */
  validate(object: unknown): Violation[];
  /** Reference documentation in Markdown. */
  docs(): string;
}

/**
 * Defines a kind of resource. Throws KUBE_SCHEMA_NOT_STRUCTURAL at once if Kubernetes could not check it as zod does.
 *
 * @example
 * const Testbed = defineResource({
 *   group: "example.org",
 *   version: "v1",
 *   kind: "Testbed",
 *   spec: z.object({ slotsPerNode: z.int().min(1).default(2).describe("How many slots each node gets.") }),
 * });
 * type Testbed = ObjectOf<typeof Testbed>;
 */
export function defineResource<Spec extends z.ZodObject, Status extends z.ZodObject = z.ZodObject>(
  options: ResourceOptions<Spec, Status>,
): Resource<Spec, Status> {
  const { group, version, kind, scope = "Namespaced" } = options;
  checkNames(options);
  const plural = options.plural ?? `${kind.toLowerCase()}s`;
  const schema = objectSchema(options);
  // A definition may say nothing about metadata, which Kubernetes itself checks.
  const metadata = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;
  const validate = compileValidator({ ...schema, properties: { ...schema.properties, metadata } });
  const resource: Resource<Spec, Status> = {
    group,
    version,
    kind,
    plural,
    apiVersion: `${group}/${version}`,
    namespaced: scope === "Namespaced",
    schema,
    crd: () => customResourceDefinition(options, plural, schema),
    validate,
    docs: () => documentation(resource, options),
  };
  return resource;
}

function checkNames({ group, version, kind, plural = "x" }: ResourceOptions<z.ZodObject, z.ZodObject>): void {
  const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
  const wrong =
    (!(group.includes(".") && group.split(".").every((part) => label.test(part))) && `group "${group}"`) ||
    (!/^v[1-9]\d*((alpha|beta)[1-9]\d*)?$/.test(version) && `version "${version}"`) ||
    (!/^[A-Z][A-Za-z0-9]{0,62}$/.test(kind) && `kind "${kind}"`) ||
    (!label.test(plural) && `plural "${plural}"`);
  if (wrong) throw notStructural("", `Kubernetes does not allow the ${wrong}`);
}

function objectSchema({
  description,
  spec,
  status,
  rules,
}: ResourceOptions<z.ZodObject, z.ZodObject>): StructuralSchema {
  return {
    type: "object",
    ...(description !== undefined && { description }),
    required: ["spec"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: toStructural(spec, "spec"),
      ...(status && { status: toStructural(status, "status") }),
    },
    ...(rules && { "x-kubernetes-validations": [...rules] }),
  };
}

function customResourceDefinition(
  options: ResourceOptions<z.ZodObject, z.ZodObject>,
  plural: string,
  schema: StructuralSchema,
): CustomResourceDefinition {
  const { group, version, kind, scope = "Namespaced", shortNames, categories, printerColumns, status } = options;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(shortNames && { shortNames: [...shortNames] }),
        ...(categories && { categories: [...categories] }),
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          ...(status && { subresources: { status: {} } }),
          ...(printerColumns && { additionalPrinterColumns: [...printerColumns] }),
        },
      ],
    },
  };
}
