/** What a comparison reports, for people and for programs. */
import { arch, cpus, release, totalmem, type } from "node:os";

/** One figure of ours beside the same figure of a peer, both measured in the same run; or a figure that only we have. */
export interface Measurement {
  readonly measure: string;
  readonly unit: string;
  readonly ours: number;
  readonly peer?: number;
  readonly peerName?: string;
  /** What we want to reach. Default: nothing in particular. */
  readonly target?: Target;
}

/** What a benchmark is told. */
export interface MeasureOptions {
  /** Fewer and smaller measurements. */
  readonly quick: boolean;
  /** Instead of the benchmark's own, if it has any. */
  readonly sizes?: readonly number[] | undefined;
  /** Tells people how it gets on. */
  readonly log: (line: string) => void;
  /** Aborted by Ctrl-C: end, and leave nothing running. */
  readonly signal: AbortSignal;
}

/** A limit on our own figure, or on the ratio of ours to the peer's. */
export interface Target {
  readonly of: "ours" | "ratio";
  readonly atMost?: number;
  readonly atLeast?: number;
}

export interface Row {
  readonly measure: string;
  readonly unit: string;
  readonly ours: number;
  /** These three are `null` if there is nobody to compare with. */
  readonly peer: number | null;
  readonly peerName: string | null;
  /** Ours divided by the peer's. */
  readonly ratio: number | null;
  /** In words; `null` if there is none. */
  readonly target: string | null;
  readonly met: boolean | null;
}

export interface Report {
  readonly name: string;
  readonly date: string;
  readonly machine: string;
  readonly rows: readonly Row[];
}

export function row({ measure, unit, ours, peer, peerName, target }: Measurement): Row {
  const ratio = peer === undefined ? null : ours / peer;
  return {
    measure,
    unit,
    ours: rounded(ours),
    peer: peer === undefined ? null : rounded(peer),
    peerName: peerName ?? null,
    ratio: ratio === null ? null : rounded(ratio),
    target: target ? inWords(target, unit) : null,
    met: target ? isMet(target, ours, ratio) : null,
  };
}

export function machine(): string {
  const gibibytes = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} × ${cpus()[0]?.model.trim()}, ${gibibytes} GiB, ${type()} ${release()} ${arch()}, Node ${process.version}`;
}

/** The report as a table. */
export function table({ name, date, machine, rows }: Report): string {
  const head = ["measure", "unit", "ours", "peer", "ratio", "target", ""];
  const body = rows.map((row) => [
    row.measure,
    row.unit,
    String(row.ours),
    row.peer === null ? "" : `${row.peer} (${row.peerName})`,
    row.ratio === null ? "" : `${row.ratio}×`,
    row.target ?? "",
    row.met === null ? "" : row.met ? "met" : "MISSED",
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...body].map((cells) => (cells[column] as string).length)));
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] as number))
      .join("  ")
      .trimEnd();
  return [
    `${name}, ${date}, ${machine}`,
    "",
    line(head),
    line(widths.map((width) => "─".repeat(width))),
    ...body.map(line),
  ].join("\n");
}

function isMet(
  { of, atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY }: Target,
  ours: number,
  ratio: number | null,
): boolean {
  const value = of === "ours" ? ours : ratio;
  return value !== null && value <= atMost && value >= atLeast;
}

function inWords({ of, atMost, atLeast }: Target, unit: string): string {
  const limits = [atMost !== undefined && `≤ ${atMost}`, atLeast !== undefined && `≥ ${atLeast}`].filter(Boolean);
  return `${limits.join(" and ")}${of === "ours" ? ` ${unit}` : "×"}`;
}

/** The one in the middle: what a disturbed run did does not count. */
export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** The smallest value that so many percent of all are not above. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(Math.floor((sorted.length * percent) / 100), sorted.length - 1)] as number;
}

/** Three significant digits: more would only pretend. */
function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
