import { kubernetesTime } from "@berth/kube";
import type { BatchJob, JobPhase, Scheduling, SchedulingPhase } from "@berth/model";
import { JOB_PHASES, SCHEDULING_PHASES } from "@berth/model";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Wish, wishesOf } from "./plan.ts";
import { type Entry, entriesOf, GRACE_MS, holderOf, isOnlyFurther, isOver, phaseOf, progressOf } from "./progress.ts";

const CREATED = Date.UTC(2020, 0, 1);
const CLAIM = "2020-01-01T00:00:01.000000Z";
const NAMES = ["a", "b", "c", "d"];

function schedulingOf(names: readonly string[], jobs: readonly Entry[] = []): Scheduling {
  return {
    metadata: { name: "s", namespace: "n", creationTimestamp: "2020-01-01T00:00:00Z" },
    spec: {
      testbed: { name: "t" },
      slotBased: names.map((name, index) => ({ name, slots: [index] })),
      exclusive: false,
      ttlSecondsAfterFinished: 0,
    },
    status: { jobs: [...jobs] },
  };
}

/** How it stands with a job: who has it, whether it has slots, and what its status says. */
interface Standing {
  readonly holder?: "s" | "other" | undefined;
  readonly hasSlots?: boolean | undefined;
  readonly phase?: JobPhase | undefined;
  /** The status is about the slots that it has now. */
  readonly isPresent?: boolean | undefined;
  readonly isGoing?: boolean | undefined;
}

function jobOf(name: string, { holder, hasSlots, phase, isPresent, isGoing }: Standing): BatchJob {
  const creationRequest = { testbed: { name: "t" }, slots: [7], claimTime: CLAIM };
  return {
    metadata: { name, namespace: "n", ...(isGoing && { deletionTimestamp: "2020-01-01T00:00:30Z" }) },
    spec: {
      jobSpec: {},
      ...(holder && { activeScheduling: { name: holder } }),
      ...(holder && hasSlots && { creationRequest }),
    },
    ...(phase && { status: { phase, run: 3, claimTime: isPresent ? CLAIM : "2019-01-01T00:00:00.000000Z" } }),
  };
}

interface Scene {
  readonly scheduling: Scheduling;
  readonly wishes: readonly Wish[];
  readonly jobs: ReadonlyMap<string, BatchJob>;
  readonly now: number;
}

const ofUs = (jobs: ReadonlyMap<string, BatchJob>) => [...jobs.values()].filter((job) => holderOf(job) === "n/s");
const keyOf = ({ metadata }: BatchJob) => `n/${metadata.name}`;
const lookAt = ({ scheduling, wishes, jobs, now }: Scene) =>
  progressOf({ scheduling, wishes, jobOf: (key) => jobs.get(key), ours: ofUs(jobs), now });
const sceneOf = (names: readonly string[], before: readonly Entry[], jobs: Scene["jobs"], now: number): Scene => {
  const scheduling = schedulingOf(names, before);
  return { scheduling, wishes: wishesOf(scheduling), jobs, now };
};
const knownIn = ({ scheduling }: Scene, wish: Wish | undefined) =>
  scheduling.status?.jobs?.find(({ name }) => `n/${name}` === wish?.job);

const standing: fc.Arbitrary<Standing> = fc.record({
  holder: fc.constantFrom(undefined, "s", "other"),
  hasSlots: fc.boolean(),
  phase: fc.constantFrom(undefined, ...JOB_PHASES),
  isPresent: fc.boolean(),
  isGoing: fc.boolean(),
});
const entryPhase = fc.constantFrom<Entry["phase"][]>(
  ...(["Waiting", "InQueue", "Submitted", "Scheduled", "Running", "Completed", "Failed", "Released"] as const),
);
const entry = (name: string): fc.Arbitrary<Entry> =>
  fc
    .record({ name: fc.constant(name), phase: entryPhase, missed: fc.option(fc.nat(GRACE_MS)) })
    .map(({ missed, ...of }) => ({
      ...of,
      ...(missed !== null && { missingSince: kubernetesTime(CREATED + missed) }),
    }));
const jobsArbitrary = fc
  .record(Object.fromEntries(NAMES.map((name) => [name, fc.option(standing, { nil: undefined })])))
  .map(
    (all) =>
      new Map(Object.entries(all).flatMap(([name, each]) => (each ? [[`n/${name}`, jobOf(name, each)] as const] : []))),
  );
const entriesArbitrary = fc
  .subarray(NAMES)
  .chain((names) => fc.tuple(...names.map(entry)))
  .map((all) => all as Entry[]);
const scene: fc.Arbitrary<Scene> = fc
  .tuple(fc.shuffledSubarray(NAMES), entriesArbitrary, jobsArbitrary, fc.nat(2 * GRACE_MS))
  .map(([names, before, jobs, passed]) => sceneOf(names, before, jobs, CREATED + passed));

const always = (title: string, holds: (scene: Scene) => void) =>
  it(title, () => fc.assert(fc.property(scene, holds), { numRuns: 500 }));

describe("a job of a Scheduling", () => {
  const only = (job: Standing | undefined, before: Entry[] = [], passed = 0) => {
    const jobs = new Map(job ? [["n/a", jobOf("a", job)]] : []);
    return lookAt(sceneOf(["a"], before, jobs, CREATED + passed));
  };

  it("waits until it has slots, and says then how it stands", () => {
    expect(only({}).waiting).toMatchObject([{ obstacle: undefined, hopeless: false }]);
    const submitted = only({ holder: "s", hasSlots: true, phase: "Completed", isPresent: false });
    expect(submitted.entries).toMatchObject([{ name: "a", phase: "Submitted", slots: [7] }]);
    const running = only({ holder: "s", hasSlots: true, phase: "Running", isPresent: true });
    expect([running.entries, running.release]).toEqual([[{ name: "a", phase: "Running", slots: [7], run: 3 }], []]);
    const ended = only({ holder: "s", hasSlots: true, phase: "Failed", isPresent: true });
    expect([ended.entries, ended.release]).toMatchObject([[{ phase: "Failed" }], ["n/a"]]);
  });

  it("that has got its slots does not say any more what it waited for", () => {
    const running = { holder: "s", hasSlots: true, phase: "Running", isPresent: true } as const;
    const before: Entry[] = [{ name: "a", phase: "Waiting", message: "waits for slot 7" }];
    expect(only(running, before).entries).toEqual([{ name: "a", phase: "Running", slots: [7], run: 3 }]);
  });

  it("that somebody takes away while it runs has been released", () => {
    for (const taken of [{}, { holder: "other" as const, hasSlots: true }, { holder: "s" as const }, undefined]) {
      expect(only(taken, [{ name: "a", phase: "Running" }]).entries).toMatchObject([{ phase: "Released" }]);
    }
  });

  it("that was claimed without a time is known by that of its creation", () => {
    const { spec, metadata } = jobOf("a", { holder: "s", hasSlots: true });
    const { claimTime: _, ...creationRequest } = spec.creationRequest ?? { testbed: { name: "t" }, slots: [7] };
    const creationTimestamp = "2020-01-01T00:00:00Z";
    const job: BatchJob = {
      metadata: { ...metadata, creationTimestamp },
      spec: { ...spec, creationRequest },
      status: { phase: "Completed", claimTime: creationTimestamp },
    };
    const { entries } = lookAt(sceneOf(["a"], [], new Map([["n/a", job]]), CREATED));
    expect(entries).toMatchObject([{ phase: "Completed" }]);
  });

  it("that is there twice counts once, and the second time says so", () => {
    const scheduling = schedulingOf(["a", "b"]);
    scheduling.spec.slotBased?.push({ name: "a", namespace: "n", slots: [9] });
    const wishes = wishesOf(scheduling);
    const jobs = new Map([["n/a", jobOf("a", { holder: "s", hasSlots: true, phase: "Running", isPresent: true })]]);
    const seen = lookAt({ scheduling, wishes, jobs, now: CREATED });
    expect(seen.entries).toMatchObject([
      { phase: "Running" },
      undefined,
      { name: "a", phase: "Failed", message: "the job is there twice" },
    ]);
    const before = entriesOf(scheduling, wishes, seen, []);
    const again = lookAt({ scheduling: { ...scheduling, status: { jobs: before } }, wishes, jobs, now: CREATED });
    expect([again.entries, again.release]).toEqual([seen.entries, []]);
  });
});

describe("whatever has become of jobs", () => {
  always("what is over stays over", (given) => {
    const { entries } = lookAt(given);
    for (const [index, wish] of given.wishes.entries()) {
      const known = knownIn(given, wish);
      if (known && isOver(known)) expect(entries[index]).toEqual(known);
    }
  });

  always("those of ours are let go that are not wished for, or over: each once, and nobody else", (given) => {
    const { entries, release } = lookAt(given);
    const goesOn = given.wishes.filter((_, index) => {
      const known = entries[index];
      return !known || !isOver(known);
    });
    const kept = new Set(goesOn.map(({ job }) => job));
    const expected = ofUs(given.jobs).map(keyOf);
    expect([...release].sort()).toEqual(expected.filter((job) => !kept.has(job)).sort());
  });

  always("wishes keep their order, and each of them has an entry", (given) => {
    const seen = lookAt(given);
    const waits = seen.waiting.map(({ wish }) => ({ job: wish.job, reason: "SlotsTaken" as const, message: "later" }));
    const entries = entriesOf(given.scheduling, given.wishes, seen, waits);
    expect(entries.map(({ name }) => `n/${name}`)).toEqual(given.wishes.map(({ job }) => job));
    const waiting = entries.filter(({ phase }) => phase === "Waiting");
    expect(waiting.map(({ name }) => `n/${name}`)).toEqual(seen.waiting.map(({ wish }) => wish.job));
    expect(waiting.every(({ message }) => message === "later")).toBe(true);
  });

  always("none is claimed a second time", (given) => {
    for (const { wish } of lookAt(given).waiting) {
      expect([undefined, "Waiting", "InQueue"]).toContain(knownIn(given, wish)?.phase);
    }
  });

  always("only those are waited for in vain that are not there, and not before the time is up", (given) => {
    for (const { wish, hopeless, obstacle } of lookAt(given).waiting) {
      const isMissing = !given.jobs.has(wish.job);
      const { missingSince = kubernetesTime(given.now) } = knownIn(given, wish) ?? {};
      expect(hopeless).toBe(isMissing && given.now - Date.parse(missingSince) >= GRACE_MS);
      if (isMissing) expect(obstacle).toContain("there is no such job");
    }
  });

  it("an edit loses nothing that has ended and is still wished for", () => {
    fc.assert(
      fc.property(scene, fc.shuffledSubarray(["e", ...NAMES]), (given, names) => {
        const before = entriesOf(given.scheduling, given.wishes, lookAt(given), []);
        const edited = sceneOf(names, before, given.jobs, given.now);
        const after = entriesOf(edited.scheduling, edited.wishes, lookAt(edited), []);
        const ended = before.filter((each) => isOver(each) && names.includes(each.name));
        expect(after).toEqual(expect.arrayContaining(ended));
      }),
      { numRuns: 500 },
    );
  });
});

describe("the phase of a Scheduling", () => {
  const entries = fc
    .array(entryPhase, { maxLength: 5 })
    .map((all) => all.map((phase): Entry => ({ name: "x", phase })));
  const every = (holds: (all: Entry[], waiting: number, hopeless: number, phase: SchedulingPhase) => void) =>
    fc.assert(
      fc.property(entries, fc.nat(5), (all, some) => {
        const waiting = all.filter(({ phase }) => phase === "Waiting").length;
        const hopeless = Math.min(some, waiting);
        holds(all, waiting, hopeless, phaseOf(all, hopeless));
      }),
      { numRuns: 1000 },
    );

  it("is Completed exactly if everything is over", () => {
    every((all, _waiting, _hopeless, phase) => expect(phase === "Completed").toBe(all.every(isOver)));
  });

  it("is Failed exactly if something is left, and all of it is waited for in vain", () => {
    every((all, waiting, hopeless, phase) => {
      const left = all.filter((each) => !isOver(each)).length;
      expect(phase === "Failed").toBe(hopeless > 0 && hopeless === waiting && left === waiting);
    });
  });

  it("goes forward as jobs are claimed, confirmed and ended", () => {
    const of = (...phases: Entry["phase"][]) =>
      phaseOf(
        phases.map((phase) => ({ name: "x", phase })),
        0,
      );
    expect([
      of("Waiting", "Waiting"),
      of("Submitted", "Waiting"),
      of("Submitted", "Scheduled"),
      of("Running", "Completed"),
      of("Failed", "Completed"),
    ]).toEqual(["Acquire", "Submission", "Confirmation", "AwaitCompletion", "Completed"]);
    expect(SCHEDULING_PHASES).toContain(of());
  });
});

/** A Scheduling that is carried out by somebody who may die before a release, while its jobs do as they like. */
describe("from beginning to end", () => {
  const happening = fc.oneof(
    fc.record({ what: fc.constant("job" as const), name: fc.constantFrom(...NAMES), standing }),
    fc.record({ what: fc.constant("gone" as const), name: fc.constantFrom(...NAMES) }),
    fc.record({ what: fc.constant("edit" as const), names: fc.shuffledSubarray(NAMES) }),
    fc.record({ what: fc.constant("look" as const), releases: fc.boolean() }),
  );

  it("what has ended is not forgotten, and when all jobs have, it is Completed and has none", () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 30 }), (happenings) => {
        let names: readonly string[] = NAMES;
        let status: Entry[] = [];
        const jobs = new Map<string, BatchJob>();
        const look = (releases: boolean) => {
          const given = sceneOf(names, status, jobs, CREATED);
          const seen = lookAt(given);
          const after = entriesOf(given.scheduling, given.wishes, seen, []);
          const ended = status.filter((each) => isOver(each) && names.includes(each.name));
          expect(after).toEqual(expect.arrayContaining(ended));
          status = after;
          if (releases) for (const key of seen.release) jobs.set(key, jobOf(key.slice(2), {}));
          return seen;
        };
        for (const each of happenings) {
          if (each.what === "job") jobs.set(`n/${each.name}`, jobOf(each.name, each.standing));
          else if (each.what === "gone") jobs.delete(`n/${each.name}`);
          else if (each.what === "edit") names = each.names;
          else look(each.releases);
        }
        const left = [...look(true).waiting.map(({ wish }) => wish.job), ...ofUs(jobs).map(keyOf)];
        const ended = { holder: "s", hasSlots: true, phase: "Completed", isPresent: true } as const;
        for (const key of left) jobs.set(key, jobOf(key.slice(2), ended));
        look(true);
        expect([phaseOf(status, 0), ofUs(jobs)]).toEqual(["Completed", []]);
        expect(look(true).release).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

describe("what is likely to be otherwise in a moment", () => {
  const status = (...phases: Entry["phase"][]) => ({
    jobs: phases.map((phase, index) => ({ name: `j${index}`, phase })),
  });

  it.each([
    [true, status("Submitted", "Running"), status("Scheduled", "Running")],
    [true, status("Completed", "Submitted"), status("Completed", "Running")],
    [false, status("Waiting"), status("Submitted")],
    [false, status("Running"), status("Completed")],
    [false, status("Running"), status("Running", "Waiting")],
    [false, { jobs: [] }, status("Submitted")],
    [false, { ...status("Submitted"), observedGeneration: 1 }, { ...status("Running"), observedGeneration: 2 }],
  ])("%s", (isPassing, before, after) => expect(isOnlyFurther(before, after)).toBe(isPassing));
});
