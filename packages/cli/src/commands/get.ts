/** `berth get jobs|slots|testbeds|schedulings|nodes`: what there is, as kubectl would show it. */
import type { BerthClient, JobView, NodeView, Page, SchedulingView, SlotView, TestbedView } from "@berth/sdk";
import { CliError } from "../errors.ts";
import type { TargetFlags } from "../flags.ts";
import { type Column, type Format, formatted } from "../table.ts";
import { asking } from "../target.ts";
import { seconds } from "../view/picture.ts";

export interface GetFlags extends TargetFlags {
  readonly output?: Format;
  readonly selector?: string;
  readonly watch?: boolean;
  readonly headers?: boolean;
}

type Named<T> = T & { readonly name: string; readonly namespace?: string };

interface Noun<T> {
  readonly one: string;
  readonly aliases: readonly string[];
  /** Of the stream of changes; none cannot be watched. */
  readonly topic?: string;
  readonly columns: (now: number) => readonly Column<Named<T>>[];
  readonly list: (client: BerthClient, selector: string | undefined) => Promise<readonly Named<T>[]>;
}

/** All pages. */
async function all<T>(ask: (after: string | undefined) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  for (let after: string | undefined; ; ) {
    const page = await ask(after);
    items.push(...page.items);
    if (page.next === undefined) return items;
    after = page.next;
  }
}

const query = (after: string | undefined, labelSelector: string | undefined) => ({
  ...(after !== undefined && { after }),
  ...(labelSelector !== undefined && { labelSelector }),
});

const numbers = (slots: readonly number[] | undefined) => slots?.join(",");

const jobs: Noun<JobView> = {
  one: "job",
  aliases: ["jobs", "job", "batchjobs", "batchjob", "bj"],
  topic: "jobs",
  columns: (now) => [
    { title: "NAME", of: ({ name }) => name },
    { title: "KIND", of: ({ kind }) => kind },
    { title: "PHASE", of: ({ phase, waiting }) => (waiting ? "Waiting" : phase) },
    {
      title: "EXECUTORS",
      of: ({ placed, running, slots }) => (slots.length > 0 ? `${running ?? 0}/${slots.length}` : placed),
    },
    { title: "TESTBED", of: ({ testbed }) => testbed },
    { title: "SLOTS", of: ({ slots }) => numbers(slots) },
    { title: "RUNS", of: ({ history }) => history.length },
    { title: "SCHEDULING", of: ({ scheduling }) => scheduling, wide: true },
    { title: "MESSAGE", of: ({ message }) => message?.replaceAll(/\s+/g, "_"), wide: true },
    { title: "AGE", of: ({ submitted }) => seconds(now - submitted) },
  ],
  list: (client, selector) => all((after) => client.jobs(query(after, selector))),
};

const slots: Noun<SlotView> = {
  one: "slot",
  aliases: ["slots", "slot"],
  topic: "slots",
  columns: (now) => [
    { title: "NAME", of: ({ testbed, id }) => `${testbed}-${id}` },
    { title: "SLOT", of: ({ id }) => id },
    { title: "NODE", of: ({ node }) => node },
    { title: "STATE", of: ({ state }) => state },
    { title: "JOB", of: ({ job }) => job },
    { title: "POD", of: ({ pod }) => pod, wide: true },
    { title: "REASON", of: ({ reason }) => reason?.replaceAll(/\s+/g, "_"), wide: true },
    { title: "SINCE", of: ({ since }) => (since === undefined ? undefined : seconds(now - since)) },
  ],
  list: async (client) => {
    const testbeds = await all((after) => client.testbeds(query(after, undefined)));
    const lists = await Promise.all(testbeds.map(({ name }) => client.slots(name)));
    return lists.flat().map((slot) => ({ ...slot, name: `${slot.testbed}-${slot.id}` }));
  },
};

const testbeds: Noun<TestbedView> = {
  one: "testbed",
  aliases: ["testbeds", "testbed", "tb"],
  topic: "testbeds",
  columns: () => [
    { title: "NAME", of: ({ name }) => name },
    { title: "NODES", of: ({ nodes }) => nodes },
    { title: "SLOTS", of: ({ slots }) => slots.total },
    { title: "FREE", of: ({ slots }) => slots.free },
    { title: "RESERVED", of: ({ slots }) => slots.reserved },
    { title: "OCCUPIED", of: ({ slots }) => slots.occupied },
    { title: "READY", of: ({ ready }) => (ready ? "True" : "False") },
    { title: "SCHEDULER", of: ({ scheduler }) => scheduler },
    { title: "UNAVAILABLE", of: ({ slots }) => slots.unavailable, wide: true },
  ],
  list: (client, selector) => all((after) => client.testbeds(query(after, selector))),
};

const schedulings: Noun<SchedulingView> = {
  one: "scheduling",
  aliases: ["schedulings", "scheduling", "sched"],
  topic: "schedulings",
  columns: (now) => [
    { title: "NAME", of: ({ name }) => name },
    { title: "TESTBED", of: ({ testbed }) => testbed },
    { title: "PHASE", of: ({ phase }) => phase },
    { title: "JOBS", of: ({ jobs }) => jobs.map(({ name }) => name).join(",") },
    { title: "SCHEDULER", of: ({ scheduler }) => scheduler },
    { title: "REASON", of: ({ reason }) => reason?.replaceAll(/\s+/g, "_"), wide: true },
    { title: "AGE", of: ({ created }) => seconds(now - created) },
  ],
  list: (client, selector) => all((after) => client.schedulings(query(after, selector))),
};

const nodes: Noun<NodeView> = {
  one: "node",
  aliases: ["nodes", "node", "no"],
  columns: () => [
    { title: "NAME", of: ({ name }) => name },
    { title: "READY", of: ({ ready }) => (ready ? "True" : "False") },
    { title: "SCHEDULABLE", of: ({ schedulable }) => (schedulable ? "True" : "False") },
    { title: "SLOTS", of: ({ slots }) => slots.map(({ testbed, id }) => `${testbed}-${id}`).join(",") },
    { title: "CPU", of: ({ allocatable }) => allocatable.cpu, wide: true },
    { title: "MEMORY", of: ({ allocatable }) => allocatable.memory, wide: true },
  ],
  list: (client, selector) => all((after) => client.nodes(query(after, selector))),
};

const nouns = [jobs, slots, testbeds, schedulings, nodes] as readonly Noun<unknown>[];

/** What can be got, for help texts and completion. */
export const NOUNS: readonly string[] = nouns.map(({ aliases }) => aliases[0] as string);

/** @param name - Of one of them. Default: all. */
export async function get(what: string, name: string | undefined, flags: GetFlags): Promise<void> {
  const [word, after] = what.split("/", 2) as [string, string?];
  const noun = nouns.find(({ aliases }) => aliases.includes(word.toLowerCase()));
  if (!noun) throw new CliError("BERTH_CLI_USAGE", `there are no ${word}: ${NOUNS.join(", ")}`);
  const wanted = name ?? after;
  let now = 0;
  const found = await asking(flags, async ({ client, namespace }) => {
    const [items, { time }] = await Promise.all([noun.list(client, flags.selector), client.time()]);
    now = time;
    const meant = wanted === undefined ? items : items.filter((item) => item.name === wanted);
    if (wanted !== undefined && meant.length === 0 && !flags.allNamespaces) {
      throw new CliError("BERTH_CLI_USAGE", `there is no ${noun.one} ${wanted}`);
    }
    return meant.map((item) => ({ ...item, ...(flags.allNamespaces && { namespace: namespace ?? "" }) }));
  });
  const items = found.flat() as Named<unknown>[];
  const single = wanted !== undefined;
  if (items.length === 0 && flags.output === undefined) console.error(`No ${NOUNS[nouns.indexOf(noun)]} found.`);
  else console.log(await print(noun, items, now, flags, single));
  if (flags.watch) await follow(noun, flags, wanted);
}

async function print(
  noun: Noun<unknown>,
  items: readonly Named<unknown>[],
  now: number,
  { output, headers, allNamespaces }: GetFlags,
  single: boolean,
): Promise<string> {
  const own = noun.columns(now);
  const columns = allNamespaces ? [{ title: "NAMESPACE", of: (item: Named<unknown>) => item.namespace }, ...own] : own;
  return formatted(items, noun.one, columns, {
    format: output,
    single,
    ...(headers !== undefined && { headers }),
  });
}

/** A line for each change from now on, until Ctrl-C. */
async function follow(noun: Noun<unknown>, flags: GetFlags, wanted: string | undefined): Promise<void> {
  const { topic } = noun;
  if (topic === undefined) throw new CliError("BERTH_CLI_USAGE", `${noun.aliases[0]} cannot be watched`);
  await asking(flags, async ({ client }) => {
    for await (const change of client.changes([topic])) {
      if (change.type === "snapshot" || change.type === "removed") continue;
      const view = change.object as Named<{ testbed?: string; id?: number }>;
      const item = { ...view, name: view.name ?? `${view.testbed}-${view.id}` };
      if (wanted !== undefined && item.name !== wanted) continue;
      const { time } = await client.time();
      console.log(await print(noun, [item], time, { ...flags, headers: false }, true));
    }
  });
}
