/** A database that takes connections, and then says no more. */
import net, { type AddressInfo } from "node:net";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { Database } from "../../../src/state/postgres/database.js";
import { PostgresLog } from "../../../src/state/postgres/log.js";
import { freshDatabase } from "../../fixtures/postgres.js";
import { until, within } from "../../fixtures/wait.js";

/** The authentication is done, and the server is ready; https://www.postgresql.org/docs/current/protocol-message-formats.html */
const READY = Buffer.from("R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I", "latin1");
/** The command is done, and the server is ready. */
const DONE = Buffer.from("C\0\0\0\x08SET\0Z\0\0\0\x05I", "latin1");

/** A database that answers the first of what each connection sends. */
async function silentAfter(answers: readonly Buffer[]): Promise<Database> {
  const sockets: net.Socket[] = [];
  const server = net.createServer((socket) => {
    const left = [...answers];
    sockets.push(socket.on("error", () => undefined));
    socket.on("data", () => {
      const answer = left.shift();
      if (answer !== undefined) socket.write(answer);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const database = new Database({ url: `postgres://u:p@127.0.0.1:${port}/d`, maxConnections: 1 });
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await database.close();
  });
  return database;
}

const failureOf = (result: Promise<unknown>): Promise<unknown> => result.catch((error: unknown) => error);

const SOON_MS = 15_000;

test("a session ends whose settings are not answered", async () => {
  const database = await silentAfter([READY]);
  const failure = await within(SOON_MS, "it has failed", failureOf(database.openSession()));
  expect(failure).toMatchObject({ name: "DatabaseError", kind: "unavailable" });
});

test("a session ends that does not listen in time", async () => {
  const log = new PostgresLog(await silentAfter([READY, DONE]), { templates: [], contentId: "tests" });
  const notices = { listening: () => undefined, committed: () => undefined, caughtUp: () => undefined };
  const failure = await within(SOON_MS, "it has failed", failureOf(log.listen(notices, new AbortController().signal)));
  expect(failure).toMatchObject({ name: "StoreUnavailable" });
});

test("an idle connection that was given up while the network tells nothing is nothing to wait for", async () => {
  const fresh = await freshDatabase();
  onTestFinished(() => fresh.drop());
  const { url } = fresh;
  let isFrozen = false;
  const sockets: net.Socket[] = [];
  const { hostname, port } = new URL(url);
  const network = net.createServer({ allowHalfOpen: true }, (near) => {
    const far = net.connect({ host: hostname, port: Number(port) });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.push(from.on("error", () => undefined).on("data", (bytes) => isFrozen || to.write(bytes)));
    }
  });
  network.listen(0, "127.0.0.1");
  await once(network, "listening");
  const refusals: unknown[] = [];
  const address = Object.assign(new URL(url), { port: String((network.address() as AddressInfo).port) });
  const onShortage = (error: unknown) => void refusals.push(error);
  const database = new Database({ url: address.href, maxConnections: 2, onShortage });
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    network.close();
    await database.close();
  });
  const query = () => database.query({ name: "one", text: "SELECT 1" });
  await query();
  isFrozen = true;
  await until("it was given up", () => database.pool.idle === 0);
  expect(await failureOf(query())).toMatchObject({ message: expect.stringContaining("cannot be reached") as string });
  expect(refusals).toEqual([]);
});
