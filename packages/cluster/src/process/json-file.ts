/** Small files of JSON that several processes read while one writes them. */
import { renameSync, writeFileSync } from "node:fs";

/** Writes a value; readers see the old one or the new one, never half of it. */
export function writeJsonFile<T>(file: string, value: T): T {
  writeFileSync(`${file}.new`, JSON.stringify(value, null, 2));
  renameSync(`${file}.new`, file);
  return value;
}
