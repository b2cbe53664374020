#!/usr/bin/env node
/** Arguments and environment -> config -> app -> signals. */
import { readFile } from "node:fs/promises";
import { type App, type Check, checkSnapshot, migrateDatabase, startApp } from "./app/app.js";
import { probeHealth } from "./cli/healthcheck.js";
import { type Config, readConfig } from "./config/config.js";
import { packageVersion } from "./app/package-files.js";
import { snapshotPath } from "./app/source-options.js";
import { helpText } from "./config/help.js";
import { SettingError } from "./config/setting-error.js";
import { describeCheck, describeStart } from "./cli/output.js";
import { SnapshotError } from "./ingest/file/snapshot-file.js";
import { DatabaseError } from "./store/postgres/errors.js";
import type { Roles } from "./ingest/source/database-source.js";

/** The arguments, the environment or a file that they name is wrong. */
const EXIT_WRONG = 2;
/** `offledger check` found something wrong, or the service could not go on. */
const EXIT_FAILED = 1;

const TAKES_FILE = "takes the path of a file of active contracts that can be served";

async function main(): Promise<void> {
  const read = readConfig(process.argv.slice(2));
  if (!read.ok) return fail(`${read.wrong.join("\n")}\n\nTry: offledger help`, EXIT_WRONG);
  switch (read.command) {
    case "serve":
      return serve(read.config, { mirrors: true, answers: true });
    case "mirror":
      return serve(read.config, { mirrors: true, answers: false });
    case "api":
      return serve(read.config, { mirrors: false, answers: true });
    case "migrate":
      return migrate(read.config);
    case "check":
      return check(read.config);
    case "health":
      return health(read.config);
    case "help":
      return print(helpText());
    case "version":
      return print(`${packageVersion()}\n`);
  }
}

async function serve(config: Config, roles: Roles): Promise<void> {
  let app: App;
  try {
    app = await startApp(config, Date.now, roles);
  } catch (error) {
    return fail(...startFailure(config, error));
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      app.close().then(
        () => process.exit(0),
        (error: unknown) => {
          fail(messageOf(error), EXIT_FAILED);
          process.exit();
        },
      );
    });
  }
  // Last, since whoever waits for these words may send a signal right behind them.
  print(describeStart(app.url, app.source, app.notReadyReason, app.inventory));
}

async function migrate({ databaseUrl }: Config): Promise<void> {
  // The check of the settings has seen to it that there is one.
  if (databaseUrl === undefined) return;
  try {
    const { from, to } = await migrateDatabase(databaseUrl);
    print(
      from === to
        ? `the schema is up to date, at version ${to}\n`
        : `the schema is at version ${to} now, from ${from}\n`,
    );
  } catch (error) {
    const isAway = error instanceof DatabaseError && error.kind === "away";
    return fail(`OFFLEDGER_DATABASE_URL: ${messageOf(error)}`, isAway ? EXIT_FAILED : EXIT_WRONG);
  }
}

async function health(config: Config): Promise<void> {
  const trouble = await probeHealth(config);
  if (trouble === undefined) return print("ok\n");
  return fail(`nothing well serves ${config.host}:${config.port}: ${trouble}`, EXIT_FAILED);
}

async function check(config: Config): Promise<void> {
  if (config.ledgerUrl !== undefined) {
    return fail("offledger check looks at a file, and OFFLEDGER_LEDGER_URL names a participant", EXIT_WRONG);
  }
  const path = snapshotPath(config);
  let content: string;
  try {
    content = await readFile(path, "utf8");
  } catch (error) {
    return fail(`OFFLEDGER_SNAPSHOT ${TAKES_FILE}: ${messageOf(error)}`, EXIT_WRONG);
  }
  let checked: Check;
  try {
    checked = await checkSnapshot(config, content);
  } catch (error) {
    return fail(...startFailure(config, error));
  }
  const { snapshot, inventory } = checked;
  print(describeCheck(path, snapshot, inventory));
  if (inventory === undefined || inventory.warnings.length > 0) process.exitCode = EXIT_FAILED;
}

/** A start that failed: names the setting behind it, where it was one. */
function startFailure(config: Config, error: unknown): readonly [message: string, exitCode: number] {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (["EADDRINUSE", "EACCES", "EADDRNOTAVAIL", "ENOTFOUND"].includes(code)) {
    const takes = "OFFLEDGER_HOST and OFFLEDGER_PORT take an address that can be listened on";
    return [`${takes}, and ${config.host}:${config.port} cannot be: ${messageOf(error)}`, EXIT_WRONG];
  }
  if (error instanceof SnapshotError) return [`OFFLEDGER_SNAPSHOT ${TAKES_FILE}:\n${error.message}`, EXIT_WRONG];
  if (error instanceof SettingError) return [error.message, EXIT_WRONG];
  if (error instanceof DatabaseError) return [`OFFLEDGER_DATABASE_URL: ${error.message}`, EXIT_WRONG];
  return [`the service cannot start: ${messageOf(error)}`, EXIT_FAILED];
}

function print(text: string): void {
  process.stdout.write(text);
}

function fail(message: string, exitCode: number): void {
  process.stderr.write(`offledger: ${message}\n`);
  process.exitCode = exitCode;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

await main();
