import { defineConfig } from "vitest/config";

const folders = "{test,scripted-participant}/**";
/** The slow tier, by file name: long timeouts, processes that are killed, packages, browsers; and random input. */
const slow = `${folders}/*.{slow,property}.test.ts`;

const limits = { testTimeout: 30_000, hookTimeout: 30_000 };

export default defineConfig({
  test: {
    globalSetup: "test/fixtures/postgres-setup.ts",
    // Many tests wait for timeouts, so a second worker is worth it on two cores.
    maxWorkers: "100%",
    projects: [
      { test: { ...limits, name: "quick", include: [`${folders}/*.test.ts`], exclude: [slow] } },
      { test: { ...limits, name: "slow", include: [slow] } },
    ],
  },
});
