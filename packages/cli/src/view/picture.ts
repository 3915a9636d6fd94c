/** Slots, queue and jobs as lines of text: what `berth watch` draws. Pure. */
import type { JobView, SlotView, TestbedView } from "@berth/sdk";
import { type Paint, paintFor } from "./paint.ts";

export interface Scene {
  readonly testbeds: readonly TestbedView[];
  readonly slots: readonly SlotView[];
  readonly jobs: readonly JobView[];
  /** In seconds, by the gateway's clock. */
  readonly time: number;
}

export interface Frame {
  readonly columns: number;
  readonly rows: number;
  readonly color: boolean;
}

/** No line is longer than the screen, and there are no more of them than fit. */
export function picture(scene: Scene, frame: Frame): string[] {
  const paint = paintFor(frame.color);
  const lines = scene.testbeds.flatMap((testbed) => [...testbedLines(testbed, scene, frame, paint), ""]);
  const room = Math.max(6, frame.rows - lines.length - 1);
  return [...lines, ...jobLines(scene, room, frame, paint)].slice(0, Math.max(1, frame.rows - 1));
}

const CELL = 14;

function testbedLines({ name, slots, scheduler }: TestbedView, scene: Scene, frame: Frame, paint: Paint): string[] {
  const own = scene.slots.filter(({ testbed }) => testbed === name).sort((a, b) => a.id - b.id);
  const used = own.filter(({ job }) => job !== undefined).length;
  const title = `${paint.strong(name)}  ${used} of ${slots.total} slots in use${slots.unavailable > 0 ? `, ${slots.unavailable} unavailable` : ""}, ${
    scheduler === undefined ? paint.faint("no scheduler") : `scheduler ${paint.strong(scheduler)}`
  }`;
  const nodes = Map.groupBy(own, ({ node }) => node);
  const label = Math.min(16, Math.max(4, ...[...nodes.keys()].map(({ length }) => length)));
  const widest = Math.max(1, ...[...nodes.values()].map(({ length }) => length));
  const cellsInRow = Math.max(1, Math.floor((frame.columns - label - 2) / (CELL + 1)));
  const perNode = Math.min(widest, cellsInRow);
  // Two nodes in a line if they fit: screens are wider than they are high.
  const inLine = Math.max(1, Math.min(4, Math.floor(frame.columns / (label + 3 + perNode * (CELL + 1)))));
  const rows = [...nodes].map(([node, slots]) => {
    const shown = slots.slice(0, perNode).map((slot) => cell(slot, paint));
    const more = slots.length > perNode ? paint.faint(` +${slots.length - perNode}`) : "";
    return ` ${paint.faint(cut(node, label))} ${shown.join(" ")}${more}`;
  });
  const lines: string[] = [];
  for (let at = 0; at < rows.length; at += inLine) lines.push(rows.slice(at, at + inLine).join("  "));
  const most = Math.max(4, Math.floor(frame.rows * 0.5));
  const left = lines.length > most ? [paint.faint(` … ${rows.length - most * inLine} more nodes`)] : [];
  return [title, ...lines.slice(0, most), ...left];
}

/** What a slot holds, in words and not only in colour. */
function cell({ id, state, job }: SlotView, paint: Paint): string {
  const number = String(id).padStart(3);
  if (state === "occupied" && job !== undefined) return paint.job(job, `${number} ${cut(job, CELL - 4)}`);
  if (state === "reserved" && job !== undefined) return paint.faint(`${number} ${cut(`→${job}`, CELL - 4)}`);
  if (state === "unavailable") return paint.bad(`${number} ${cut("×", CELL - 4)}`);
  return paint.faint(`${number} ${cut("·", CELL - 4)}`);
}

function jobLines({ jobs, time }: Scene, room: number, frame: Frame, paint: Paint): string[] {
  const waiting = jobs.filter((job) => job.waiting).sort((a, b) => a.submitted - b.submitted);
  const active = jobs.filter((job) => !job.waiting && job.scheduling !== undefined);
  const ended = jobs
    .filter((job) => !job.waiting && job.scheduling === undefined)
    .sort((a, b) => (b.ended ?? 0) - (a.ended ?? 0));
  const counts = `${waiting.length} in the queue, ${active.length} running, ${ended.length} ended`;
  const columns = ["JOB", "KIND", "PHASE", "SLOTS", "TIME", "WHY"] as const;
  const rows = [...waiting, ...active, ...ended].map((job) => [
    job.name,
    job.kind,
    job.waiting ? "Waiting" : job.phase,
    job.slots.length > 0 ? job.slots.join(",") : `(${job.executors.preferred ?? job.executors.min ?? 1})`,
    spanOf(job, time),
    job.message ?? "",
  ]);
  const widths = columns.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const limits = [24, 5, 10, 16, 6, Math.max(10, frame.columns - 72)];
  const line = (cells: readonly string[]) =>
    cells
      .map((text, i) => cut(text, Math.min(widths[i] ?? 0, limits[i] ?? 10)))
      .join("  ")
      .trimEnd();
  const shown = rows.slice(0, Math.max(0, room - 3));
  const more = rows.length > shown.length ? [paint.faint(`… showing ${shown.length} of ${rows.length}`)] : [];
  return [
    counts,
    paint.strong(line(columns)),
    ...shown.map((row) =>
      row[2] === "Failed" ? paint.bad(line(row)) : paint.job(row[0] ?? "", line(row), row[5] !== ""),
    ),
    ...more,
  ];
}

/** For how long it has waited, run, or ran. */
function spanOf({ waiting, submitted, started, ended }: JobView, now: number): string {
  if (waiting) return seconds(now - submitted);
  if (started === undefined) return "";
  return seconds((ended !== undefined && ended >= started ? ended : now) - started);
}

/** "42s", "3m05s", "2h10m". */
export function seconds(span: number): string {
  const whole = Math.max(0, Math.round(span));
  if (whole < 60) return `${whole}s`;
  const two = (value: number) => String(value).padStart(2, "0");
  if (whole < 3600) return `${Math.floor(whole / 60)}m${two(whole % 60)}s`;
  return `${Math.floor(whole / 3600)}h${two(Math.floor((whole % 3600) / 60))}m`;
}

/** Exactly so long. */
export function cut(text: string, width: number): string {
  return text.length <= width ? text.padEnd(width) : `${text.slice(0, Math.max(0, width - 1))}…`;
}
