import { defineConfig } from "vitest/config";

const folders = "test/**";
/** The slow tier, by file name: long timeouts, processes that are killed, packages, browsers; and random input. */
const slow = `${folders}/*.{slow,property}.test.ts`;

/**
 * Files of the quick tier that have a process of their own: they replace timers or other globals, measure the process, or
 * collect its garbage, which takes long in a large heap.
 * The others share the modules of their worker, because loading the service takes as long as most of them. They must
 * leave nothing behind.
 */
const isolated = [
  "test/client/caching/stream.test.ts",
  "test/ingest/**/*.test.ts",
  "test/simulation/**/*.test.ts",
  "test/ledger/{shared-strings,participant/http}.test.ts",
  "test/transport/{sockets,limits}/**/*.test.ts",
];

/** Generous, so that a loaded machine fails no test. */
const quickLimits = { testTimeout: 60_000, hookTimeout: 60_000 };
const slowLimits = { testTimeout: 120_000, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    globalSetup: "test/fixtures/postgres-setup.ts",
    // Many tests wait for timeouts, so a second worker is worth it on two cores.
    maxWorkers: "100%",
    projects: [
      { test: { ...quickLimits, name: "quick-isolated", include: isolated, exclude: [slow] } },
      {
        test: {
          ...quickLimits,
          name: "quick",
          isolate: false,
          include: [`${folders}/*.test.ts`],
          exclude: [slow, ...isolated],
        },
      },
      { test: { ...slowLimits, name: "slow", include: [slow] } },
    ],
  },
});
