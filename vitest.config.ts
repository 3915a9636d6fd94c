import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const real = "{packages/*/src,bench,examples,tools}/**/*.real.test.ts";

// Nobody is hurried who looks at a breakpoint.
const patience = process.argv.some((argument) => argument.startsWith("--inspect")) ? 0 : 120_000;

/** What plays a whole suite takes minutes, and is begun first: otherwise everybody waits for it in the end. */
class SuitesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    const rank = ({ project, moduleId }: TestSpecification) =>
      2 * projects.indexOf(project) + (/\/(conformance|scenarios|chaos)\//.test(moduleId) ? 0 : 1);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: SuitesFirst },
    projects: [
      {
        // Rules without any process: many at once.
        test: {
          name: "pure",
          include: ["{packages/*/src,bench,examples,tools}/**/*.test.ts"],
          exclude: [real, "**/node_modules/**"],
          testTimeout: patience,
          hookTimeout: patience,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Real processes: three files at a time, since a cluster that starts keeps one core busy and waits a good deal.
        test: {
          name: "real",
          include: [real],
          maxWorkers: 3,
          // Of tests that may run at once within a file: they wait for clusters far more than they compute.
          maxConcurrency: 12,
          pool: "forks",
          globalSetup: "packages/cluster/src/testing/build-binaries.ts",
          testTimeout: patience,
          hookTimeout: patience,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
