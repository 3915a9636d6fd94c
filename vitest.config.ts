import { defineConfig } from "vitest/config";

const real = "{packages/*/src,bench,tools}/**/*.real.test.ts";

export default defineConfig({
  test: {
    projects: [
      {
        // Rules without any process: many at once.
        test: {
          name: "pure",
          include: ["{packages/*/src,bench,tools}/**/*.test.ts"],
          exclude: [real, "**/node_modules/**"],
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Real processes: one file at a time, so that they have the machine to themselves.
        test: {
          name: "real",
          include: [real],
          fileParallelism: false,
          pool: "forks",
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
