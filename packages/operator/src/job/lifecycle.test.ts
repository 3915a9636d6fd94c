import type { BatchJob } from "@berth/model";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Observation } from "../apps/application.ts";
import { type ApplicationView, isFinal, type JobStep, nextStep } from "./lifecycle.ts";

const START = Date.UTC(2020, 0, 1);

/** A job, its applications and the one who looks after it, who may die between any two writes. */
class World {
  job: BatchJob;
  applications: ApplicationView[] = [];
  placed = 0;
  now = START;
  #uids = 0;

  constructor(retry?: { limit: number; backoffSeconds: number }) {
    this.job = { metadata: { name: "j", namespace: "n" }, spec: { jobSpec: {}, ...(retry && { retry }) } };
  }

  claim(claimTime: string, slots = [3, 4]): this {
    const creationRequest = { testbed: { name: "t" }, slots, claimTime };
    this.job = { ...this.job, spec: { ...this.job.spec, activeScheduling: { name: "s" }, creationRequest } };
    return this;
  }

  release(): this {
    const { activeScheduling: _, creationRequest: __, ...spec } = this.job.spec;
    this.job = { ...this.job, spec };
    return this;
  }

  queue(): this {
    const { creationRequest: _, ...spec } = this.job.spec;
    this.job = { ...this.job, spec: { ...spec, activeScheduling: { name: "s" } } };
    return this;
  }

  becomes(observation: Observation): this {
    this.applications = this.applications.map((each) => ({ ...each, observation }));
    return this;
  }

  step(): JobStep {
    const { activeScheduling, creationRequest } = this.job.spec;
    const claim =
      activeScheduling && creationRequest
        ? { job: "n/j", testbed: "n/t", slots: creationRequest.slots, since: creationRequest.claimTime ?? "" }
        : undefined;
    const executors = { placed: this.placed, running: 0 };
    return nextStep(this.job, {
      claim,
      applications: this.applications,
      executors,
      neighbours: () => ["n/other"],
      places: [],
      nodeOf: () => undefined,
      lost: [],
      survivesLoss: false,
      waitsFor: undefined,
      now: this.now,
    });
  }

  /** @param dies - After so many writes: the status is written first, then it is acted. */
  reconcile(dies: 0 | 1 | 2 = 2): JobStep {
    const step = this.step();
    if (dies >= 1) this.job = { ...this.job, status: step.status };
    if (dies >= 2) this.act(step);
    return step;
  }

  act({ action }: JobStep): void {
    const claim = this.job.spec.creationRequest?.claimTime ?? "";
    if (action.type === "remove") this.applications = this.applications.filter(({ name }) => name !== action.name);
    if (action.type !== "create") return;
    const { run, attempt } = action;
    const name = `j-${run}`;
    // As the API server: a name is taken as long as there is an object.
    if (this.applications.some((each) => each.name === name)) return;
    const uid = `u${++this.#uids}`;
    this.applications.push({
      name,
      uid,
      kind: "Job",
      claim,
      run,
      attempt,
      isGoing: false,
      observation: { phase: "pending" },
    });
  }

  /** Until nothing changes any more. */
  settle(): JobStep {
    for (let round = 0; round < 20; round++) {
      const before = JSON.stringify([this.job, this.applications]);
      const step = this.reconcile();
      if (JSON.stringify([this.job, this.applications]) === before) return step;
    }
    throw new Error(`it never settled: ${JSON.stringify([this.job.status, this.applications])}`);
  }

  get phase() {
    return this.job.status?.phase;
  }
}

describe("a job", () => {
  it("waits, is submitted, placed, runs and completes; its run is remembered", () => {
    const world = new World();
    world.settle();
    expect(world.phase).toBe("Ready");
    world.queue().settle();
    expect(world.phase).toBe("InQueue");
    world.claim("1").settle();
    expect([world.phase, world.applications.length]).toEqual(["Submitted", 1]);
    world.placed = 2;
    world.settle();
    expect(world.phase).toBe("Scheduled");
    world.now += 5000;
    world.becomes({ phase: "running" }).settle();
    expect(world.job.status).toMatchObject({ phase: "Running", startTime: "2020-01-01T00:00:05Z" });
    world.now += 60_000;
    world.becomes({ phase: "completed" }).settle();
    expect(world.job.status).toMatchObject({ phase: "Completed", completionTime: "2020-01-01T00:01:05Z" });
    const [run] = world.job.status?.runs ?? [];
    expect(run).toMatchObject({ number: 1, outcome: "Completed", seconds: 60, slots: [3, 4], neighbours: ["n/other"] });
    world.release().settle();
    expect([world.phase, world.applications.length]).toEqual(["Completed", 1]);
  });

  it("is found finished after an outage, whatever was missed", () => {
    const world = new World().claim("1");
    world.settle();
    world.becomes({ phase: "completed", startTime: "2020-01-01T00:00:10Z", endTime: "2020-01-01T00:00:20Z" }).settle();
    expect(world.job.status?.runs).toMatchObject([{ outcome: "Completed", seconds: 10 }]);
  });

  it("returns to Ready when it is released, and its application goes", () => {
    const world = new World().claim("1");
    world.settle();
    world.becomes({ phase: "running" }).settle();
    world.release().settle();
    expect([world.phase, world.applications]).toEqual(["Ready", []]);
    expect(world.job.status?.runs).toMatchObject([{ number: 1, outcome: "Released" }]);
  });

  it("remembers a run that is broken off before anybody has said that it began, and gives its number to no other", () => {
    const world = new World().claim("c1");
    world.act(world.step()); // the application is there, and nothing is written yet
    expect(world.job.status).toBeUndefined();
    world.release().reconcile();
    expect(world.job.status).toMatchObject({ phase: "Ready", run: 1, runs: [{ number: 1, outcome: "Released" }] });
    world.reconcile();
    expect(world.job.status?.runs).toHaveLength(1);
    expect(world.claim("c2").step().action).toEqual({ type: "create", run: 2, attempt: 0 });
  });

  it("runs again with the next claim, under a number of its own, when its last application is gone", () => {
    const world = new World().claim("1");
    world.settle();
    world.becomes({ phase: "completed" }).settle();
    world.release().settle();
    world.claim("2").settle();
    expect(world.applications.map(({ name, claim }) => [name, claim])).toEqual([["j-2", "2"]]);
    world.becomes({ phase: "failed", message: "out of luck" }).settle();
    expect(world.job.status?.runs?.map(({ number, outcome, message }) => [number, outcome, message])).toEqual([
      [2, "Failed", "out of luck"],
      [1, "Completed", "has completed"],
    ]);
  });

  it("is tried again as often as it may be, later each time", () => {
    const world = new World({ limit: 2, backoffSeconds: 10 }).claim("1");
    world.settle();
    for (const wait of [10, 20]) {
      world.becomes({ phase: "failed" });
      expect(world.reconcile().message).toContain("tries again at");
      const { action } = world.settle();
      expect([world.phase, world.applications, action]).toEqual([
        "InQueue",
        [],
        { type: "wait", until: world.now + wait * 1000 },
      ]);
      world.now += wait * 1000;
      world.settle();
      expect(world.applications).toHaveLength(1);
    }
    world.becomes({ phase: "failed", message: "for good" }).settle();
    expect(world.job.status).toMatchObject({
      phase: "Failed",
      attempt: 2,
      runs: [{ number: 1, outcome: "Failed", message: "for good" }],
    });
  });

  it("has no executors while it waits for its next try, and none when it has ended", () => {
    const world = new World({ limit: 1, backoffSeconds: 10 }).claim("1");
    world.placed = 2;
    world.settle();
    expect(world.job.status?.executors).toEqual({ requested: 2, placed: 2, running: 0 });
    world.becomes({ phase: "failed" }).settle();
    expect([world.phase, world.job.status?.executors]).toEqual(["InQueue", undefined]);
    world.now += 10_000;
    world.settle();
    world.becomes({ phase: "completed" }).settle();
    expect(world.job.status?.executors).toEqual({ requested: 2, placed: 0, running: 0 });
  });

  it("that has failed goes on to say why", () => {
    const world = new World().claim("1");
    world.settle();
    world.becomes({ phase: "failed", message: "out of luck" });
    for (const say of [() => world.reconcile(), () => world.settle(), () => world.release().settle()]) {
      expect(say().message).toBe("out of luck");
    }
  });

  it("that has ended keeps its application, and no other", () => {
    const world = new World().claim("2");
    world.settle();
    world.becomes({ phase: "completed" }).settle();
    const [own] = world.applications;
    const stray = { ...own, name: "j-0", claim: "1", isGoing: false } as ApplicationView;
    for (const step of [() => world.settle(), () => world.release().settle()]) {
      world.applications = [stray, own as ApplicationView];
      step();
      expect([world.phase, world.applications]).toEqual(["Completed", [own]]);
    }
  });

  it("waits for no application that is going while there is another one to be removed", () => {
    const world = new World().claim("1");
    world.settle();
    const [own] = world.applications as [ApplicationView];
    world.applications = [{ ...own, name: "j-0", isGoing: true }, own];
    expect(world.release().step().action).toEqual({ type: "remove", name: own.name });
  });

  it("fails if somebody deletes its application", () => {
    const world = new World().claim("1");
    world.settle();
    world.applications = [];
    world.settle();
    expect(world.job.status).toMatchObject({ phase: "Failed", runs: [{ message: "its application was deleted" }] });
  });

  it("that was given other slots while it ran begins anew", () => {
    const world = new World().claim("1");
    world.settle();
    world.becomes({ phase: "running" }).settle();
    world.claim("2", [7]).settle();
    expect(world.applications).toMatchObject([{ name: "j-2", claim: "2" }]);
    expect(world.job.status?.runs).toMatchObject([{ number: 1, outcome: "Released" }]);
  });
});

describe("whatever happens, and whenever its controller dies", () => {
  const happening = fc.oneof(
    fc.record({ what: fc.constant("claim" as const), time: fc.constantFrom("1", "2", "3") }),
    fc.record({ what: fc.constantFrom("release" as const, "queue" as const, "vanish" as const, "place" as const) }),
    fc.record({
      what: fc.constant("becomes" as const),
      phase: fc.constantFrom("pending" as const, "running" as const, "completed" as const, "failed" as const),
    }),
    fc.record({ what: fc.constant("pass" as const), seconds: fc.nat(60) }),
    fc.record({ what: fc.constant("reconcile" as const), dies: fc.constantFrom(0 as const, 1 as const, 2 as const) }),
  );

  it("it settles, with the one application that its claim wants and no other", () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 30 }), fc.nat(2), (happenings, limit) => {
        const world = new World({ limit, backoffSeconds: 10 });
        for (const each of happenings) {
          if (each.what === "claim") world.claim(each.time);
          else if (each.what === "release") world.release();
          else if (each.what === "queue") world.queue();
          else if (each.what === "vanish") world.applications = [];
          else if (each.what === "place") world.placed = 2;
          else if (each.what === "becomes") world.becomes({ phase: each.phase });
          else if (each.what === "pass") world.now += each.seconds * 1000;
          else if (each.what === "reconcile") world.reconcile(each.dies);
          expect(world.applications.length).toBeLessThanOrEqual(1);
        }
        const { action } = world.settle();
        const { status, spec } = world.job;
        if (isFinal(status?.phase)) return;
        if (!spec.creationRequest)
          expect([world.applications, ["Ready", "InQueue"].includes(status?.phase ?? "")]).toEqual([[], true]);
        else if (action.type === "wait") expect([world.applications, action.until > world.now]).toEqual([[], true]);
        else
          expect(world.applications).toMatchObject([
            { claim: spec.creationRequest.claimTime, attempt: status?.attempt },
          ]);
        const numbers = status?.runs?.map(({ number }) => number) ?? [];
        expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => b - a));
      }),
      { numRuns: 500 },
    );
  });
});
