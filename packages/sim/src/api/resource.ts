/** What the server serves: one resource of one version, and by which rules its objects come to be, change and end. */
import type { Kind, Random } from "@berth/kube";
import type { SchemaNode } from "../schema/schema.ts";
import type { FieldErrors } from "./field-errors.ts";
import type { AnyObject } from "./json.ts";

/** Somebody who asks. */
export interface User {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What a write is made in: who, when, and what else there is. */
export interface WriteContext {
  readonly user: User;
  /** The time of the write, as objects have it. */
  readonly time: string;
  readonly random: Random;
  /** Nothing is to be stored. */
  readonly dryRun: boolean;
  /** What else there is: for rules that look at other objects. */
  readonly lookup: Lookup;
  /** Tells the caller what is not wrong, but not right either. */
  warn(message: string): void;
}

/** Other objects, for rules that depend on them. */
export interface Lookup {
  get<T extends AnyObject>(kind: Pick<Kind, "group" | "plural">, name: string, namespace?: string): T | undefined;
  list<T extends AnyObject>(kind: Pick<Kind, "group" | "plural">, namespace?: string): Iterable<T>;
}

/**
 * The rules of a kind's objects. Objects handed to `default`, `prepare…` are the caller's own copies, to be changed in
 * place; `before` is frozen. All of them are pure but for that, and must take any object that the schema lets through.
 */
export interface Rules {
  /** What names may look like. Default: "subdomain". */
  readonly names?: "subdomain" | "label" | "label1035" | "segment";
  /** Whether `metadata.generation` counts what was wanted. Default: true if there is a status. */
  readonly generation?: boolean;
  /** Whether a change must say which version it is a change of. Default: only that of a custom resource must. */
  readonly needsVersion?: boolean;
  /** Whether who creates an object may say how it is, as a node's kubelet does. Default: false. */
  readonly keepsStatus?: boolean;
  /** Objects that are questions are answered and never stored: this is what a create gives back then. */
  answer?(object: AnyObject, context: WriteContext): AnyObject;
  /** Another name for creating something under an object of the same name: a Binding for "pods/binding". */
  readonly standsFor?: { readonly kind: Kind; readonly subresource: string };
  /**
   * Whether these rules leave alone what is frozen: parts of an object that were complete before, and come back unchanged.
   * Then those parts are not copied first.
   */
  leavesFrozen?: true;
  /** Fills in what is left out. */
  default?(object: AnyObject): void;
  /** The same in the status, where there is one. */
  defaultStatus?(object: AnyObject): void;
  /** What the server decides when an object begins. The status is gone by then, if the kind has one. */
  prepareForCreate?(object: AnyObject, context: WriteContext): void;
  validate?(object: AnyObject, errors: FieldErrors, context: WriteContext): void;
  /** What stays as it was, whatever a client says. The status is that of `before` by then, if the kind has one. */
  prepareForUpdate?(object: AnyObject, before: AnyObject, context: WriteContext): void;
  validateUpdate?(object: AnyObject, before: AnyObject, errors: FieldErrors, context: WriteContext): void;
  /** The same for writes to the status; everything but status and metadata is that of `before` by then. */
  prepareForStatusUpdate?(object: AnyObject, before: AnyObject, context: WriteContext): void;
  validateStatusUpdate?(object: AnyObject, before: AnyObject, errors: FieldErrors, context: WriteContext): void;
  /** By which fields objects can be selected, beside name and namespace. */
  fields?(object: AnyObject): Readonly<Record<string, string>>;
  /** For how many seconds an object is given notice. Default: none, it goes at once. */
  gracePeriod?(object: AnyObject, asked: number | undefined): number;
  /** Whether something besides grace and finalizers keeps an object from going, as a namespace's own finalizers do. */
  remains?(object: AnyObject): boolean;
  /** What else is noted on an object that is to go. */
  prepareForDelete?(object: AnyObject, context: WriteContext): void;
}

/** A resource within a resource: "pods/binding". */
export interface Subresource {
  readonly name: string;
  /** What its objects are, if not of the kind of the resource: Scale, Binding, Eviction. */
  readonly kind: string;
  readonly apiVersion: string;
  readonly verbs: readonly string[];
}

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  /** 0 is shown always, others with `-o wide`. */
  readonly priority?: number;
  cell(object: AnyObject, now: number): unknown;
}

export interface Resource extends Kind {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly Subresource[];
  readonly hasStatus: boolean;
  readonly schema: SchemaNode;
  readonly rules: Rules;
  readonly columns: readonly Column[];
  /** Only custom resources are validated by their schema, and pruned instead of decoded. */
  readonly custom?: CustomRules;
  /** Under what name objects are stored; the same for all versions of a resource. */
  readonly storage: string;
  /** How objects of this version are stored, and read. Default: as they are. */
  readonly conversion?: Conversion;
}

export interface Conversion {
  toStored(object: AnyObject): AnyObject;
  fromStored(object: AnyObject): AnyObject;
}

/** What the definition of a custom resource adds. */
export interface CustomRules {
  /** Paths of the scale subresource, if there is one. */
  readonly scale?: { readonly specReplicas: string; readonly statusReplicas: string; readonly labelSelector?: string };
}
