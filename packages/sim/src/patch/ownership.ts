/**
 * Who owns which field: what server-side apply decides by, and what `metadata.managedFields` shows.
 *
 * Most objects are never applied, and whoever looks at `managedFields` is a person. So a write only leaves a note of what
 * was before and after it, and who owns what is worked out from the notes when somebody asks. Objects are frozen and share
 * what they have in common, so notes cost little; after a few of them they are worked out, so that they do not pile up.
 */
import { type AnyObject, frozen, isObject, type JsonObject } from "../api/json.ts";
import { badRequest, type Refusal } from "../api/refusal.ts";
import type { Resource } from "../api/resource.ts";
import { decodePart } from "../schema/decode.ts";
import { type Outcome, outcomeOf } from "./applying.ts";
import { problemOf } from "./checking.ts";
import { FieldSetPool } from "./field-set-pool.ts";
import { withLastApplied } from "./last-applied.ts";
import {
  type ManagedFieldsEntry,
  NOBODY,
  type Operation,
  type Owners,
  type Ownership,
  sameOwners,
  shownOwners,
  type Writer,
} from "./managers.ts";
import { afterUpdate } from "./owning.ts";
import { reconciled } from "./reconciling.ts";
import { unexpected } from "./refusals.ts";
import { rootOf } from "./shape.ts";

export type { ManagedFieldsEntry } from "./managers.ts";

/** Who wrote, how and when. */
export interface Manager {
  readonly manager: string;
  readonly operation: Operation;
  readonly subresource?: string;
  readonly time: string;
  /** Who owned what before, if the client says so itself. Default: who did. */
  readonly given?: Owners | undefined;
  /** Who owns what now, if that is known already, as after an apply. */
  readonly owners?: Owners | undefined;
}

/** How many notes may follow each other. More cost memory, fewer cost time for objects that nobody asks about. */
const MOST_NOTES = 8;

/** What is known of the owners of one version of an object. */
interface Note {
  /** Once it is worked out, everything else is forgotten. */
  owners: Owners | undefined;
  write: Write | undefined;
  shown: readonly ManagedFieldsEntry[] | undefined;
}

/** What is needed to work it out. */
interface Write {
  readonly earlier: Note | undefined;
  readonly before: AnyObject | undefined;
  readonly asked: AnyObject;
  readonly resource: Resource;
  readonly manager: Manager;
  /** How many notes are still to be worked out, this one included. */
  readonly depth: number;
}

const PLACE = Symbol("place for a note");

/**
 * Notes by metadata, which each version of an object has of its own and keeps when it is converted. They stand in the metadata
 * itself, out of sight, in a place that must be made before it is frozen: a weak map of all of them would cost the garbage
 * collector more than everything else together. The few that have no place, such as last words on objects, are in one.
 */
class Notes {
  readonly #others = new WeakMap<object, Note>();

  get(metadata: object): Note | undefined {
    const place = placeIn(metadata);
    return place ? place.note : this.#others.get(metadata);
  }

  set(metadata: object, note: Note): void {
    const place = placeIn(metadata);
    if (place) place.note = note;
    else this.#others.set(metadata, note);
  }
}

function placeIn(metadata: object): { note: Note | undefined } | undefined {
  return (metadata as { [PLACE]?: { note: Note | undefined } })[PLACE];
}

/** Makes a place for a note in an object that is not yet stored. Gives the object. */
export function withPlaceForOwners(object: AnyObject): AnyObject {
  Object.defineProperty(object.metadata, PLACE, { value: { note: undefined } });
  return object;
}

export class FieldOwnership {
  readonly #notes = new Notes();
  readonly #pool = new FieldSetPool();
  readonly #isServed: (apiVersion: string, kind: string) => boolean;

  /** @param isServed - Whether there are objects of a kind in a version: nobody owns fields of a version that is gone. */
  constructor(isServed: (apiVersion: string, kind: string) => boolean = () => true) {
    this.#isServed = isServed;
  }

  /**
   * Takes note of a write; quick, since every write comes here.
   *
   * @param stored - What is stored now, or would be if it were not a dry run.
   * @param asked - What the writer asked for, before the server added anything to it. Default: what is stored.
   */
  wrote(
    before: AnyObject | undefined,
    stored: AnyObject,
    resource: Resource,
    manager: Manager,
    asked: AnyObject = stored,
  ): void {
    const { given } = manager;
    // Of an object that is said to have no owners nothing has to be worked out: it stays so, until somebody applies.
    const owners = manager.owners ?? (before && given?.size === 0 ? given : undefined);
    if (owners) {
      this.#notes.set(stored.metadata, { owners: this.#pooled(owners), write: undefined, shown: undefined });
      return;
    }
    const earlier = before && !given ? this.#notes.get(before.metadata) : undefined;
    const depth = 1 + (earlier?.write?.depth ?? 0);
    const note: Note = {
      owners: undefined,
      write: { earlier, before, asked, resource, manager, depth },
      shown: undefined,
    };
    this.#notes.set(stored.metadata, note);
    if (depth > MOST_NOTES) this.#settle(note);
  }

  /** Takes note of a change that nobody owns: what the server does by itself, as when it binds or deletes something. */
  carried(before: AnyObject, stored: AnyObject): void {
    const note = this.#notes.get(before.metadata);
    if (note) this.#notes.set(stored.metadata, note);
  }

  /** Whether somebody would own something else after a write that leaves the object as it is. */
  differs(object: AnyObject, { owners, given }: Manager): boolean {
    const wanted = owners ?? given;
    return wanted !== undefined && !sameOwners(this.#ownersOf(object), wanted);
  }

  /**
   * What an object is to be after somebody applied a configuration, and who owns what then; refuses if others own what it
   * changes.
   */
  apply(
    before: AnyObject | undefined,
    configuration: JsonObject,
    resource: Resource,
    manager: Manager,
    force: boolean,
  ): Outcome {
    checkConfiguration(configuration, resource);
    const writer = writerOf(manager, resource);
    const object = before ? completed(before, resource) : blank(resource);
    let owners = before ? this.#served(this.#ownersOf(before), resource.kind) : NOBODY;
    if (before && owners.size === 0) {
      const stranger: Writer = { ...writer, manager: "before-first-apply", operation: "Update" };
      owners = afterUpdate(NOBODY, blank(resource), before, resource, stranger, manager.time);
    }
    if (resource.custom) owners = reconciled(owners, resource);
    const { time } = manager;
    const outcome = outcomeOf({ object, owners, configuration, resource, writer, time, force });
    return { ...outcome, object: withLastApplied(outcome.object, configuration, writer) };
  }

  /** What `metadata.managedFields` would be. */
  managedFields(object: AnyObject, _resource?: Resource): readonly ManagedFieldsEntry[] {
    const note = this.#notes.get(object.metadata);
    if (!note) return [];
    note.shown ??= frozen(shownOwners(this.#settle(note)));
    return note.shown;
  }

  #ownersOf(object: AnyObject): Owners {
    const note = this.#notes.get(object.metadata);
    return note ? this.#settle(note) : NOBODY;
  }

  /** Works a note out, and all notes before it. */
  #settle(note: Note): Owners {
    const waiting: Note[] = [];
    let next: Note | undefined = note;
    while (next?.write) {
      waiting.push(next);
      next = next.write.earlier;
    }
    let owners = next?.owners ?? NOBODY;
    for (const each of waiting.reverse()) {
      owners = this.#afterWrite(owners, each.write as Write);
      each.owners = owners;
      each.write = undefined;
    }
    return owners;
  }

  #afterWrite(earlier: Owners, { before, asked, resource, manager }: Write): Owners {
    const owners = this.#served(manager.given ?? earlier, resource.kind);
    // An object that nobody owned anything of stays so, until somebody applies.
    if (before && owners.size === 0) return owners;
    const writer = writerOf(manager, resource);
    const known = before ? completed(before, resource) : blank(resource);
    const now = completed(asked, resource);
    return this.#pooled(afterUpdate(owners, known, now, resource, writer, manager.time));
  }

  #served(owners: Owners, kind: string): Owners {
    const gone = [...owners].filter(([, { apiVersion }]) => !this.#isServed(apiVersion, kind));
    if (gone.length === 0) return owners;
    return new Map([...owners].filter((entry) => !gone.includes(entry)));
  }

  /** Objects that come from one template have the same owners of the same fields: these are kept only once. */
  #pooled(owners: Owners): Owners {
    const entries = [...owners].map(([identity, ownership]): [string, Ownership] => {
      const fields = this.#pool.shared(ownership.fields);
      return [identity, fields === ownership.fields ? ownership : { ...ownership, fields }];
    });
    return new Map(entries);
  }
}

function writerOf({ manager, operation, subresource }: Manager, { apiVersion }: Resource): Writer {
  return { manager: manager || "unknown", operation, apiVersion, ...(subresource !== undefined && { subresource }) };
}

function checkConfiguration(configuration: JsonObject, resource: Resource): void {
  const { apiVersion, kind, metadata } = configuration;
  if (apiVersion !== resource.apiVersion || kind !== resource.kind) {
    throw badRequest(`invalid object type: ${typeText(apiVersion, kind)}`);
  }
  const { managedFields, name, namespace } = isObject(metadata) ? metadata : {};
  if (Array.isArray(managedFields)) throw badRequest("metadata.managedFields must be nil");
  const problem = problemOf(configuration, rootOf(resource));
  if (problem === undefined) return;
  const which = `${textOr(namespace)}/${textOr(name)}; ${typeText(apiVersion, kind)}`;
  throw untyped(which, problem);
}

function untyped(which: string, problem: string): Refusal {
  return unexpected(`failed to create typed patch object (${which}): ${problem}`);
}

/** "apps/v1, Kind=Deployment", or "/v1, Kind=Pod". */
function typeText(apiVersion: unknown, kind: unknown): string {
  const version = textOr(apiVersion);
  return `${version.includes("/") ? version : `/${version}`}, Kind=${textOr(kind)}`;
}

function textOr(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** An object with the status that all of its kind have, also those whose status was never written. */
function completed(object: AnyObject, resource: Resource): JsonObject {
  if (object.status !== undefined || !resource.hasStatus) return object;
  const { status } = blank(resource);
  return status === undefined ? object : { ...object, status };
}

const blanks = new WeakMap<Resource, JsonObject>();

/** An object of which nothing is known. Those of built-in kinds are never quite empty: some fields are always there. */
function blank(resource: Resource): JsonObject {
  let object = blanks.get(resource);
  if (!object) {
    object = resource.custom ? {} : decodePart({}, resource.schema, []);
    blanks.set(resource, object);
  }
  return object;
}
