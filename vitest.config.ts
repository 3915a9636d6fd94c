import { defineConfig } from "vitest/config";

const real = "{packages/*/src,bench,examples,tools}/**/*.real.test.ts";

// Nobody is hurried who looks at a breakpoint.
const patience = process.argv.some((argument) => argument.startsWith("--inspect")) ? 0 : 120_000;

export default defineConfig({
  test: {
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
        // Real processes: two files at a time, since a cluster that starts keeps one core busy and waits a good deal.
        test: {
          name: "real",
          include: [real],
          maxWorkers: 2,
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
