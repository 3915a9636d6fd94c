/** The schedulers that come with Berth: users of the interface like any other. @packageDocumentation */
import type { Decide } from "@berth/sdk";
import { backfill } from "./backfill.ts";
import { fifo } from "./fifo.ts";
import { spread } from "./spread.ts";

export { backfill } from "./backfill.ts";
export { fifo } from "./fifo.ts";
export { spread } from "./spread.ts";

/** By name, with what they do in a sentence. */
export const schedulers: Readonly<Record<string, { readonly decide: Decide; readonly does: string }>> = {
  fifo: { decide: fifo, does: "Strictly in the order of submission: nobody overtakes." },
  backfill: { decide: backfill, does: "In the order of submission; who does not fit lets smaller ones go first." },
  spread: { decide: spread, does: "In the order of submission, each job on the emptiest nodes." },
};
