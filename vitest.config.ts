import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "scripted-participant/**/*.test.ts"],
    globalSetup: "test/fixtures/postgres-setup.ts",
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
