/** A service that answers from a database: the same as one that holds all in memory, by every protocol. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failingCalls, successfulCalls } from "../fixtures/calls/index.js";
import { databaseAt, freshDatabase } from "../fixtures/postgres.js";
import { protocols } from "../fixtures/protocols.js";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";

describe("a service on a database", () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let memory: Running;
  let shared: Running;

  beforeAll(async () => {
    database = await freshDatabase();
    memory = await serveFile(undefined);
    const config = { databaseUrl: databaseAt(database.url) };
    shared = await serveFile(undefined, { config });
    await until("it is ready", async () => (await fetch(`${shared.url}/readyz`)).ok);
  });
  afterAll(async () => {
    await Promise.all([memory.close(), shared.close()]);
    await database.drop();
  });

  const failing = Object.entries(failingCalls).map(([name, { call }]) => [name, call] as const);
  test.each([...Object.entries(successfulCalls), ...failing])("%s", async (_name, call) => {
    for (const [protocol, send] of Object.entries(protocols)) {
      expect([protocol, await send(shared.url, call)]).toEqual([protocol, await send(memory.url, call)]);
    }
  });
});
