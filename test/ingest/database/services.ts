/** The service on a participant and a database, in this process or in others, and HTTP requests to it. */
import { tmpdir } from "node:os";
import { onTestFinished } from "vitest";
import type { JsonObject } from "../../../src/util/json.js";
import { type App, startApp } from "../../../src/app/app.js";
import { migrateDatabase } from "../../../src/cli/migrate.js";
import type { AppConfig } from "../../../src/config/limits.js";
import type { ProcessRoles } from "../../../src/ingest/database-source.js";
import { parties } from "../../fixtures/elements.js";
import { databaseAt, freshDatabase } from "../../fixtures/postgres.js";
import { main, Program } from "../../fixtures/program.js";
import { quiet } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";
import type { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Participant } from "../../scripted-participant/participant.js";

export interface Settings {
  readonly databaseUrl: string;
  readonly ledgerUrl?: string;
  /** Further variables, by their names without `OFFLEDGER_`. */
  readonly more?: Readonly<Record<string, string | number>>;
  /** Variables of other programs, by their whole names. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Until the test ends. Mirrors and replicas do not migrate. */
export async function newDatabase(isMigrated = true): Promise<string> {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  if (isMigrated) await migrateDatabase(database.url);
  return database.url;
}

/** Serves a ledger, by default for processes on a new database, until the test ends. */
export async function onLedger({ ledger }: { readonly ledger: ScriptedLedger }, database?: string) {
  const participant = await Participant.start({ ledger, checkpointMs: 20 });
  onTestFinished(() => participant.stop());
  if (database !== undefined) await migrateDatabase(database);
  const settings = { databaseUrl: database ?? (await newDatabase()), ledgerUrl: participant.url };
  /** Starts a service in this process. It ends with the test, or before. */
  const start = async (roles: ProcessRoles, more: Partial<AppConfig> = {}): Promise<App> => {
    const given = { databaseUrl: databaseAt(settings.databaseUrl), ledgerUrl: new URL(settings.ledgerUrl) };
    const config = {
      ...quiet(),
      ...given,
      ledgerParties: [parties.operator],
      graceSeconds: 2,
      ...more,
    };
    const app = await startApp(config, Date.now, roles);
    let closing: Promise<void> | undefined;
    const close = () => (closing ??= app.close());
    onTestFinished(close);
    return { ...app, close };
  };
  return { participant, settings, start };
}
export const MIRROR: ProcessRoles = { mirrors: true, answers: false };
export const REPLICA: ProcessRoles = { mirrors: false, answers: true };

/** Starts a command of a release without waiting for it. */
export function command(
  name: string,
  { databaseUrl, ledgerUrl, more = {}, environment = {} }: Settings,
  file = main,
): Program {
  const ledger = ledgerUrl === undefined ? {} : { LEDGER_URL: ledgerUrl, LEDGER_PARTIES: parties.operator };
  const values = { DATABASE_URL: databaseUrl, PORT: 0, TOTAL_SUPPLY: "true", ...ledger, ...more };
  const env = Object.entries(values).map(([variable, value]) => [`OFFLEDGER_${variable}`, String(value)]);
  return new Program(process.execPath, [file, name], {
    cwd: tmpdir(),
    env: { ...Object.fromEntries(env), ...environment },
  });
}

/** The URL of a command, once it listens. */
export async function listening(program: Program): Promise<string> {
  return program.listens();
}

/** Waits until a program has logged a text a number of times. */
export async function logs(program: Program, words: string, times = 1): Promise<void> {
  await until(`${words} is logged`, () => program.err.split(words).length > times).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${program.out}${program.err}`, { cause: error });
  });
}

/** Logged by a mirror when it becomes the leader. */
export const WRITES = "leader: this process writes the database";

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
  /** When it was asked for and when it was there, by `performance.now()`. */
  readonly asked: number;
  readonly took: number;
}

/** A request without a body is a GET by default. */
export async function ask(url: string, body?: JsonObject | "POST"): Promise<Answer> {
  const asked = performance.now();
  const posted =
    body === "POST" || body === undefined
      ? { method: body ?? "GET" }
      : { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await fetch(url, posted);
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text) as JsonObject, asked, took: performance.now() - asked };
}

/** Work that goes on beside a test. */
interface Background {
  /** Stops it and waits for its end. Rethrows its error. */
  end(): Promise<void>;
}

/** Starts work that ends with its signal, at the latest with the test. Start it after everything that it uses. */
export function inBackground(...works: readonly ((signal: AbortSignal) => Promise<void>)[]): Background {
  const stop = new AbortController();
  const running = works.map((work) => work(stop.signal));
  const settled = Promise.allSettled(running);
  onTestFinished(async () => {
    stop.abort();
    await settled;
  });
  return {
    async end() {
      stop.abort();
      await Promise.all(running);
    },
  };
}

/** Why a service is not ready; undefined where it is. */
export async function unreadiness(url: string): Promise<string | undefined> {
  const { status, body } = await ask(`${url}/readyz`);
  return status === 200 ? undefined : (body.error as string);
}

export const becomesReady = (url: string): Promise<void> =>
  until("the service is ready", async () => (await unreadiness(url)) === undefined);
