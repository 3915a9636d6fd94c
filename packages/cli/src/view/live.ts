/** Follows a gateway and draws what it tells, until it is told to end. */
import { sleep, WallClock } from "@berth/kube";
import { BerthClient, type JobView, type SlotView, type TestbedView } from "@berth/sdk";
import { wantsColor } from "./paint.ts";
import { picture, type Scene } from "./picture.ts";

export interface LiveOptions {
  readonly url: string;
  readonly token?: string;
  readonly signal: AbortSignal;
  readonly out?: NodeJS.WriteStream;
  /** Lines above the picture. */
  readonly header?: readonly string[];
}

const FRAME_MS = 250;

/** On a terminal a picture that moves; elsewhere a line for each thing that happens. */
export async function live(options: LiveOptions): Promise<void> {
  const { url, token, signal, out = process.stdout, header = [] } = options;
  const client = new BerthClient({ url, ...(token !== undefined && { token }) });
  const known = new Known();
  const isMoving = out.isTTY === true;
  const wall = new WallClock(); // whoever looks has the world's time
  let changed = true;
  const following = (async () => {
    for await (const change of client.changes(["testbeds", "slots", "jobs"], signal)) {
      const news = known.apply(change as unknown as Told);
      changed = true;
      if (!isMoving) for (const line of news) out.write(`${line}\n`);
    }
  })();
  const drawing = (async () => {
    if (!isMoving) return;
    out.write("\u001b[?1049h\u001b[?25l"); // a screen of its own, without a cursor
    try {
      while (!signal.aborted) {
        if (changed) draw(out, header, known.scene((await client.time()).time));
        changed = known.isMoving; // times go on
        await sleep(wall, FRAME_MS, signal).catch(() => {});
      }
    } finally {
      out.write("\u001b[?25h\u001b[?1049l");
    }
  })();
  const ended = following.catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  await Promise.all([ended, isMoving ? drawing : ended]);
}

function draw(out: NodeJS.WriteStream, header: readonly string[], scene: Scene): void {
  const { columns = 80, rows = 24 } = out;
  const lines = picture(scene, { columns, rows: rows - header.length, color: wantsColor(out) });
  const top = header.map((line) => (line.length > columns ? `${line.slice(0, columns - 1)}…` : line));
  const text = [...top, ...lines].map((line) => `${line}\u001b[K`).join("\n");
  out.write(`\u001b[H${text}\u001b[J`);
}

interface Told {
  readonly topic: string;
  readonly type: "snapshot" | "added" | "changed" | "removed";
  readonly items?: readonly { name?: string; testbed?: string; id?: number }[];
  readonly object?: { name?: string; testbed?: string; id?: number };
}

/** What was told, by name. */
class Known {
  readonly #testbeds = new Map<string, TestbedView>();
  readonly #slots = new Map<string, SlotView>();
  readonly #jobs = new Map<string, JobView>();

  get isMoving(): boolean {
    return [...this.#jobs.values()].some(({ waiting, scheduling }) => waiting || scheduling !== undefined);
  }

  scene(time: number): Scene {
    return {
      testbeds: [...this.#testbeds.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
      slots: [...this.#slots.values()],
      jobs: [...this.#jobs.values()],
      time,
    };
  }

  /** What is worth a line. */
  apply({ topic, type, items, object }: Told): string[] {
    const isRemoved = type === "removed";
    return (items ?? (object ? [object] : [])).flatMap((each) => {
      if (topic === "testbeds") set(this.#testbeds, each.name ?? "", each as unknown as TestbedView, isRemoved);
      if (topic === "slots") set(this.#slots, `${each.testbed}#${each.id}`, each as unknown as SlotView, isRemoved);
      if (topic !== "jobs") return [];
      const job = each as unknown as JobView;
      const before = this.#jobs.get(job.name);
      set(this.#jobs, job.name, job, isRemoved);
      if (isRemoved) return [`job/${job.name} deleted`];
      const said = job.waiting ? "Waiting" : job.phase;
      const saidBefore = before && (before.waiting ? "Waiting" : before.phase);
      if (said === saidBefore) return [];
      const where = job.slots.length > 0 ? ` in slot ${job.slots.join(", ")}` : "";
      return [`job/${job.name} ${said}${where}`];
    });
  }
}

function set<T>(map: Map<string, T>, key: string, value: T, isRemoved: boolean): void {
  if (isRemoved) map.delete(key);
  else map.set(key, value);
}
