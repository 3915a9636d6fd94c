/**
 * What kubectl printed for each command of a chapter, as it is kept in a file: written by a run against a real cluster with
 * UPDATE_TRANSCRIPTS=1, read by every other run, so that both targets are held to it.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

const folder = new URL("./transcripts/", import.meta.url);

/** What a command printed, normalised. */
export interface Printed {
  readonly line: string;
  readonly text: string;
}

const fileOf = (title: string) => new URL(`${title.replaceAll(/[^a-z]+/g, "-")}.txt`, folder);

export function readTranscript(title: string): Printed[] {
  const file = fileOf(title);
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return text
    .split(/^\$ kubectl /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf("\n");
      return { line: part.slice(0, end), text: part.slice(end + 1).trimEnd() };
    });
}

export function writeTranscript(title: string, printed: readonly Printed[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(fileOf(title), printed.map(({ line, text }) => `$ kubectl ${line}\n${text}\n`).join("\n"));
}
