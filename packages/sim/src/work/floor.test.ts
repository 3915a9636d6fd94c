import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Application, Floor } from "./floor.ts";
import { WorkModel } from "./model.ts";
import { doneAt } from "./progress.ts";

const alone = new WorkModel({ kinds: [{ name: "a", work: 120 }] });
const rivals = new WorkModel({
  kinds: [
    { name: "a", work: 120 },
    { name: "b", work: 60 },
  ],
  interference: { kinds: { a: { b: 1.5 }, b: { a: 1.25 } } },
});

const application = (model: WorkModel, index = 0, { minimum = 1, name = `app-${index}` } = {}) => {
  const kind = model.kinds[index];
  if (!kind) throw new Error("no such kind");
  return new Application(name, kind, kind.work, minimum, 0);
};

describe("an application's executors", () => {
  it("W2 divide the work among them: n take a nth of the time", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), (executors) => {
        const [floor, app] = [new Floor(alone), application(alone)];
        for (let index = 0; index < executors; index++) floor.join(`e${index}`, app, `node-${index}`, 1, 0);
        expect(app.nextAt / 1000).toBeCloseTo(120 / executors, 9);
      }),
    );
  });

  it("W2 gain no more than Amdahl's law and the maximum parallelism allow", () => {
    const model = new WorkModel({ kinds: [{ name: "k", work: 600, serial: 0.1, maxParallelism: 5 }] });
    const timeOf = (executors: number) => {
      const [floor, app] = [new Floor(model), application(model)];
      for (let index = 0; index < executors; index++) floor.join(`e${index}`, app, `node-${index}`, 1, 0);
      return app.nextAt / 1000;
    };
    expect(timeOf(1)).toBeCloseTo(600, 9);
    expect(timeOf(5)).toBeCloseTo(600 * (0.1 + 0.9 / 5), 9); // 168
    expect(timeOf(50)).toBeCloseTo(168, 9);
  });

  it("share what is left when one goes or comes", () => {
    const [floor, app] = [new Floor(alone), application(alone)];
    floor.join("e1", app, "n1", 1, 0);
    floor.join("e2", app, "n2", 1, 0);
    floor.leave("e1", 30_000); // 60 are done
    expect(app.nextAt).toBe(90_000);
    floor.join("e3", app, "n3", 1, 40_000); // 70 are done
    expect(app.nextAt).toBe(65_000);
  });

  it("stand still while there are too few of them", () => {
    const [floor, app] = [new Floor(alone), application(alone, 0, { minimum: 2 })];
    floor.join("e1", app, "n1", 1, 0);
    expect(app.nextAt).toBe(Number.POSITIVE_INFINITY);
    floor.join("e2", app, "n2", 1, 10_000);
    expect(app.nextAt).toBe(70_000);
  });

  it("are as fast as their nodes", () => {
    const [floor, app] = [new Floor(alone), application(alone)];
    floor.join("e1", app, "slow", 0.5, 0);
    floor.join("e2", app, "fast", 2, 0);
    expect(app.nextAt).toBe(48_000); // 120 / 2.5
  });
});

describe("neighbours", () => {
  it("W3 slow each other down while they work side by side: the example of docs/reference/work-model.md", () => {
    const floor = new Floor(rivals);
    const [a, b] = [application(rivals, 0), application(rivals, 1)];
    floor.join("a1", a, "n1", 1, 0);
    floor.join("a2", a, "n2", 1, 0);
    expect(a.nextAt).toBe(60_000);
    floor.join("b1", b, "n1", 1, 10_000);
    expect(a.nextAt).toBeCloseTo(70_000, 6);
    expect(b.nextAt).toBeCloseTo(85_000, 6);
    expect(a.isDone(70_000)).toBe(true);
    floor.leave("a1", 70_000);
    floor.leave("a2", 70_000);
    expect(b.nextAt).toBeCloseTo(82_000, 6);
  });

  it("count one by one: two slow down by the square", () => {
    const floor = new Floor(rivals);
    const a = application(rivals, 0);
    floor.join("a1", a, "n1", 1, 0);
    floor.join("b1", application(rivals, 1, { name: "b1" }), "n1", 1, 0);
    floor.join("b2", application(rivals, 1, { name: "b2" }), "n1", 1, 0);
    expect(a.nextAt / 1000).toBeCloseTo(120 * 1.5 ** 2, 6);
  });

  it("are touched on their node only", () => {
    const floor = new Floor(rivals);
    const [here, there] = [application(rivals, 0, { name: "here" }), application(rivals, 0, { name: "there" })];
    floor.join("h", here, "n1", 1, 0);
    floor.join("t", there, "n2", 1, 0);
    floor.takeChanged();
    const before = there.progress;
    floor.join("b", application(rivals, 1), "n1", 1, 5000);
    expect(floor.takeChanged().map(({ name }) => name)).toEqual(["app-1", "here"]);
    expect(there.progress).toBe(before);
  });
});

describe("whatever happens", () => {
  /** Executors come to and go from three nodes. */
  const events = fc.array(
    fc.record({
      wait: fc.integer({ min: 0, max: 20_000 }),
      executor: fc.integer({ min: 0, max: 11 }),
      node: fc.integer({ min: 0, max: 2 }),
    }),
    { maxLength: 60 },
  );

  function play(all: readonly { wait: number; executor: number; node: number }[]) {
    const floor = new Floor(rivals);
    const applications = [0, 1, 0, 1].map((index, order) => application(rivals, index, { name: `${order}` }));
    const present = new Map<number, number>();
    const spent = applications.map(() => 0);
    let now = 0;
    for (const { wait, executor, node } of all) {
      applications.forEach(({ progress }, index) => {
        spent[index] = (spent[index] ?? 0) + doneAt(progress, now + wait) - doneAt(progress, now);
      });
      now += wait;
      const app = applications[executor % applications.length] as Application;
      if (present.delete(executor)) floor.leave(`e${executor}`, now);
      else {
        floor.join(`e${executor}`, app, `n${node}`, 1, now);
        present.set(executor, node);
      }
    }
    return { applications, present, spent, now };
  }

  it("W1 work is conserved, and never goes faster than executors without neighbours", () => {
    fc.assert(
      fc.property(events, (all) => {
        const { applications, spent, now } = play(all);
        applications.forEach((app, index) => {
          expect(doneAt(app.progress, now) / (spent[index] ?? 0) || 1).toBeCloseTo(1, 9);
          expect(app.progress.rate).toBeLessThanOrEqual(app.executors.size);
        });
      }),
    );
  });

  it("speeds depend on who is where now, not on how that came", () => {
    fc.assert(
      fc.property(events, (all) => {
        const { applications, present } = play(all);
        const floor = new Floor(rivals);
        const anew = [0, 1, 0, 1].map((index, order) => application(rivals, index, { name: `${order}` }));
        for (const [executor, node] of [...present].reverse()) {
          floor.join(`e${executor}`, anew[executor % anew.length] as Application, `n${node}`, 1, 0);
        }
        applications.forEach(({ progress }, index) => {
          expect(progress.rate).toBeCloseTo(anew[index]?.progress.rate ?? -1, 12);
        });
      }),
    );
  });
});

describe("milestones", () => {
  it("are passed in the order of the work, and removed with whom they concern", () => {
    const [floor, app] = [new Floor(alone), application(alone)];
    floor.join("e", app, "n", 1, 0);
    app.addMilestone("late", 0.75, 0);
    app.addMilestone("early", 0.25, 0);
    app.addMilestone("gone", 0.5, 0);
    app.removeMilestone("gone");
    expect(app.nextAt).toBe(30_000);
    expect(app.passed(30_000)).toEqual(["early"]);
    expect(app.nextAt).toBe(90_000);
    expect(app.passed(120_000)).toEqual(["late"]);
    expect(app.isDone(119_999)).toBe(false);
    expect(app.isDone(120_000)).toBe(true);
  });
});
