/** Answers of a store whose contracts have no bodies: the same as of one that has them (app/database.test.ts), and faults. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { elements } from "../../demo/registry.js";
import { Code } from "@connectrpc/connect";
import { QueryExecutor } from "../../src/service/executor.js";
import type { StoreReader } from "../../src/state/port.js";
import { MemoryStore } from "../../src/state/memory-store.js";
import { services } from "../../src/service/services.js";
import { createBudgets } from "../../src/transport/limits.js";
import { createServer, type Server } from "../../src/transport/server.js";
import { acme } from "../fixtures/calls/build.js";
import { calls as allCalls, failingCalls, successfulCalls } from "../fixtures/calls/index.js";
import { contractsOf, utility } from "../fixtures/in-memory.js";
import { type Call, clients, protocols, sendRest } from "../fixtures/protocols.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";
import { until } from "../fixtures/wait.js";
import { type StoreWithoutBodies, storeWithoutBodies } from "../fixtures/without-bodies.js";

const NOW = Date.parse("2026-06-01T00:00:00Z");
const accept = successfulCalls["v1 transfer instruction, accept"] as Call;

async function serveReader(reader: StoreReader, budgets = createBudgets()) {
  const executor = new QueryExecutor(utility, reader, { staleReason: () => undefined }, () => NOW);
  const options = { overrides: new Map(), countsHoldings: false, openApi: {}, notReadyReason: () => undefined };
  const server = await createServer(services(executor, options), { ...TEST_SERVER_OPTIONS, budgets });
  return { server, url: await server.listen("127.0.0.1", 0) };
}

describe("a store without bodies", () => {
  let whole: { server: Server; url: string };
  let served: { server: Server; url: string };
  let store: StoreWithoutBodies;

  beforeAll(async () => {
    const contracts = contractsOf(elements);
    const memory = new MemoryStore(() => "1");
    await memory.replace(contracts, 10);
    whole = await serveReader(memory);
    // Few bodies are kept, so most calls fetch some, drop others, and have some at hand.
    store = await storeWithoutBodies(contractsOf(elements), 30_000);
    served = await serveReader(store.reader);
  });
  afterAll(() => Promise.all([whole.server.close(1_000), served.server.close(1_000)]));

  const calls = Object.entries(allCalls);

  test("a hundred calls at once have their bodies, although few are kept", async () => {
    const texts = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const [, call] = calls[index % calls.length] ?? ["", accept];
        const [own, other] = await Promise.all([sendRest(served.url, call), sendRest(whole.url, call)]);
        return [await own.text(), await other.text()];
      }),
    );
    for (const [own, other] of texts) expect(own).toBe(other);
  });

  test("keeps no more than it may, and has fetched some bodies again", () => {
    expect(store.bodies.bytes).toBeLessThanOrEqual(30_000);
    const ids = store.fetched.flat();
    expect(ids.length).toBeGreaterThan(new Set(ids).size);
  });
});

describe("of a store without bodies", () => {
  async function cold() {
    const store = await storeWithoutBodies(contractsOf(elements));
    const budgets = createBudgets();
    const { server, url } = await serveReader(store.reader, budgets);
    return { store, url, budgets, [Symbol.asyncDispose]: () => server.close(1_000) };
  }

  test("what is refused needs no body", async () => {
    await using service = await cold();
    for (const call of Object.values(failingCalls)) await sendRest(service.url, call);
    expect(service.store.fetched).toEqual([]);
  });

  test("what the client has needs no body", async () => {
    await using service = await cold();
    const known = { headers: { "offledger-if-none-match": "*" } };
    for (const [name, send] of Object.entries(clients)) {
      const { code, headers } = await send(service.url, accept, known);
      expect([name, code, headers.get("offledger-not-modified")]).toEqual([name, 0, "true"]);
    }
    expect(service.store.fetched).toEqual([]);
  });

  test.each(Object.entries(protocols))("%s: an answer is of the next state, if a body is gone", async (_name, send) => {
    await using service = await cold();
    service.store.faults.push("moved on");
    expect(await send(service.url, accept)).toMatchObject({ ok: true });
    expect(service.store.moves()).toBe(1);
    expect(service.store.fetched).toHaveLength(2);
  });

  test.each(Object.entries(protocols))(
    "%s: unavailable after three states, and where a body is lost",
    async (_name, send) => {
      await using service = await cold();
      service.store.faults.push("moved on", "moved on", "moved on", "unavailable", "lost");
      for (const message of [/change faster than they can be read/, /cannot be reached/, /lacks the content/])
        expect(await send(service.url, accept)).toMatchObject({
          ok: false,
          code: Code.Unavailable,
          message: expect.stringMatching(message) as string,
        });
      expect(service.store.fetched).toHaveLength(5);
      expect(await send(service.url, accept)).toMatchObject({ ok: true });
    },
  );

  test.each(Object.entries(clients).filter(([name]) => name !== "REST"))(
    "%s: ends at its deadline while a body is awaited",
    async (_name, send) => {
      await using service = await cold();
      service.store.faults.push("silent");
      const { code } = await send(service.url, accept, { deadlineMs: 100 });
      expect(code).toBe(Code.DeadlineExceeded);
    },
  );

  test.each(Object.entries(protocols))(
    "%s: none is encoded while other responses take all memory",
    async (_name, send) => {
      await using service = await cold();
      const { responses } = service.budgets;
      let arrive = () => {};
      service.store.faults.push(new Promise((resolve) => (arrive = resolve)));
      const waiting = send(service.url, accept);
      await until("the body is awaited", () => service.store.fetched.length === 1);
      responses.take(responses.limit);
      arrive();
      const message = expect.stringMatching(/too many responses/) as string;
      expect(await waiting).toMatchObject({ ok: false, message });
      responses.release(responses.limit);
      expect(await send(service.url, accept)).toMatchObject({ ok: true });
    },
  );

  test("one registrar's instruments need none", async () => {
    await using service = await cold();
    const response = await fetch(
      `${service.url}/api/token-standard/v0/registrars/${acme}/registry/metadata/v1/instruments`,
    );
    expect(response.status).toBe(200);
    expect(service.store.fetched).toEqual([]);
  });
});
