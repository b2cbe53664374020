/** A service that answers from a database: the same as one that holds all in memory, by every protocol. */
import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { calls } from "../fixtures/calls/index.js";
import { element, payload } from "../fixtures/elements.js";
import { databaseAt, freshDatabase } from "../fixtures/postgres.js";
import { protocols } from "../fixtures/protocols.js";
import { transferFactory, transferV1 } from "../fixtures/requests.js";
import { type Running, serve, serveFile } from "../fixtures/run-service.js";
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

  test.each(Object.entries(calls))("%s", async (_name, call) => {
    for (const [protocol, send] of Object.entries(protocols)) {
      expect([protocol, await send(shared.url, call)]).toEqual([protocol, await send(memory.url, call)]);
    }
  });
});

test("a snapshot file that is edited under the same ids is disclosed as it is now", async () => {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const contents = (blob: string) => {
    const options = { blob: Buffer.from(blob).toString("base64") };
    return [
      element("AllocationFactory", "factory", payload.service(), options),
      element("RegistrarService", "service", payload.service(), options),
      element("TransferRule", "rule", payload.service(), options),
      element("InstrumentConfiguration", "configuration", payload.configuration("USD"), options),
    ];
  };
  const config = { databaseUrl: databaseAt(database.url) };
  const running = await serve(contents("before"), { config });
  onTestFinished(() => running.close());
  await until("it is ready", async () => (await running.get("/readyz")).status === 200);
  const blobs = async () => {
    const { body } = await running.post(transferFactory(), transferV1("alice", "bob"));
    return [...new Set(JSON.stringify(body).match(/(?<="createdEventBlob":")[^"]*/g))].map((one) =>
      Buffer.from(one, "base64").toString(),
    );
  };
  expect(await blobs()).toEqual(["before"]);
  await writeFile(
    running.path,
    contents("after")
      .map((one) => `${JSON.stringify(one)}\n`)
      .join(""),
  );
  await until("the file is loaded again", async () => (await blobs()).includes("after"));
  expect(await blobs()).toEqual(["after"]);
});
