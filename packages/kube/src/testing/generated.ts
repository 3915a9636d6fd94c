/** Names and uids that the server makes up. */
import { integer, pick, type Random } from "../time/random.ts";
import type { StoredObject } from "./history.ts";

/** Letters and digits that make no words. */
const LETTERS = [..."bcdfghjklmnpqrstvwxz2456789"];

/** The object with a name after its `generateName`, unless it has one or wants none. */
export function withName(object: StoredObject, random: Random): StoredObject {
  const { name, generateName } = object.metadata;
  if (name || !generateName) return object;
  const suffix = Array.from({ length: 5 }, () => pick(random, LETTERS)).join("");
  return { ...object, metadata: { ...object.metadata, name: generateName + suffix } };
}

export function uuid(random: Random): string {
  return "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx".replaceAll("x", () => integer(random, 0, 16).toString(16));
}
