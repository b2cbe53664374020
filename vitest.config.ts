import { defineConfig } from "vitest/config";

const folders = "{test,scripted-participant}/**";
/** The slow tier, by file name: long timeouts, processes that are killed, packages, browsers; and random input. */
const slow = `${folders}/*.{slow,property}.test.ts`;

/**
 * Files of the quick tier that share their modules with others of the same worker, because loading the service takes as
 * long as most of them. They must leave nothing behind: no fake timers, no listener of the process, no changed global.
 */
const shared = [
  "test/matrix.test.ts",
  "test/{openapi,registry,rules}/**/*.test.ts",
  "test/transport/{compression,decoding,edges,encoding,fast-path,rest,static}/**/*.test.ts",
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
      { test: { ...quickLimits, name: "quick", include: [`${folders}/*.test.ts`], exclude: [slow, ...shared] } },
      { test: { ...quickLimits, name: "quick-shared", isolate: false, include: shared, exclude: [slow] } },
      { test: { ...slowLimits, name: "slow", include: [slow] } },
    ],
  },
});
