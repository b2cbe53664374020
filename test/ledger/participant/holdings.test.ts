/** Reading input holdings by contract id. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/json.js";
import type { LedgerError } from "../../../src/ledger/participant/errors.js";
import { ParticipantHoldings } from "../../../src/ledger/participant/lookups.js";
import { holding } from "../../../src/registry/utility/templates.js";
import { until } from "../../fixtures/wait.js";
import { closedPort, endpointAt, seen, serving } from "./servers.js";

const [owner, operator, provider, registrar] = ["alice::1", "operator::1", "provider::1", "registrar::1"];
const payload = { owner, operator, provider, registrar, instrument: { source: registrar, id: "USD", scheme: "S" } };
const fields = { owner, operator, provider, registrar, instrumentId: "USD" };

const createdEvent = {
  templateId: "pkg:Utility.Registry.Holding.V0.Holding:Holding",
  packageName: "utility-registry-holding-v0",
  createArgument: { ...payload, label: "", amount: "1.0" },
};
const created = { createdEvent, synchronizerId: "sync" };

type Answer = { readonly status?: number; readonly body: JsonObject };
const notFound: Answer = { status: 404, body: { code: "CONTRACT_EVENTS_NOT_FOUND", cause: "none" } };

/** Holdings of a participant that answers by contract id. */
async function holdingsOf(answer: (contractId: string) => Answer | Promise<Answer>, maxWait = 5_000) {
  const requests: JsonObject[] = [];
  const failures: LedgerError[] = [];
  const url = await serving(async (request, response) => {
    const { path, body } = await seen(request);
    expect(path).toBe("/v2/events/events-by-contract-id");
    const sent = JSON.parse(body) as JsonObject & { readonly contractId: string };
    requests.push(sent);
    const { status = 200, body: answered } = await answer(sent.contractId);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answered));
  });
  const options = { template: holding, maxWait, onFailure: (error: LedgerError) => void failures.push(error) };
  const source = new ParticipantHoldings(endpointAt(url), [operator, registrar], options);
  return { source, requests, failures };
}

describe("a holding", () => {
  test("is asked for as every party of the mirror, and has the fields of its payload", async () => {
    const { source, requests, failures } = await holdingsOf(() => ({ body: { created, archived: null } }));
    expect(await source.holdings(["one"])).toEqual(new Map([["one", { contractId: "one", ...fields }]]));
    expect(requests[0]).toMatchObject({ eventFormat: { filtersByParty: { [operator]: {}, [registrar]: {} } } });
    expect(JSON.stringify(requests)).toContain(
      "#utility-registry-holding-v0:Utility.Registry.Holding.V0.Holding:Holding",
    );
    expect(failures).toEqual([]);
  });

  test.each([
    ["with its creation", { created, archived: { archivedEvent: {} } }],
    ["whose creation is pruned", { created: null, archived: { archivedEvent: {} } }],
  ])("that is archived is told, %s", async (_, body) => {
    const { source } = await holdingsOf(() => ({ body }));
    expect(await source.holdings(["one"])).toEqual(new Map([["one", "archived"]]));
  });

  test.each<[string, Answer]>([
    ["the participant does not know", notFound],
    ["has a malformed id", { status: 400, body: { code: "INVALID_FIELD", cause: "contractId" } }],
    [
      "is another contract",
      { body: { created: { createdEvent: { ...createdEvent, templateId: "pkg:Other:Other" } } } },
    ],
    ["was neither created nor archived", { body: { created: null, archived: null } }],
  ])("that %s is left out in silence", async (_, answer) => {
    const { source, failures } = await holdingsOf((id) => (id === "bad" ? answer : { body: { created } }));
    expect([...(await source.holdings(["bad", "good"])).keys()]).toEqual(["good"]);
    expect(failures).toEqual([]);
  });

  test.each<[string, Answer, string]>([
    [
      "cannot be decoded",
      { body: { created: { createdEvent: { ...createdEvent, createArgument: {} } } } },
      "unreadable",
    ],
    ["the participant is too busy for", { status: 503, body: { code: "OVERLOADED", cause: "later" } }, "busy"],
  ])("that %s is left out, which is reported once", async (_, answer, kind) => {
    const { source, failures } = await holdingsOf((id) => (id.startsWith("bad") ? answer : { body: { created } }));
    expect([...(await source.holdings(["bad", "bad-too", "good"])).keys()]).toEqual(["good"]);
    expect(failures.map((error) => error.kind)).toEqual([kind]);
  });
});

test("each id is asked for once, the first 100 of them, 8 at a time", async () => {
  let [inFlight, highest] = [0, 0];
  const waiting: (() => void)[] = [];
  // Eight requests wait for one another: with fewer at a time nothing would be answered.
  const { source, requests } = await holdingsOf(async () => {
    highest = Math.max(highest, ++inFlight);
    if (requests.length <= 8) await new Promise<void>((resolve) => waiting.push(resolve));
    else await new Promise((resolve) => setTimeout(resolve, 1));
    inFlight--;
    return { body: { created } };
  });
  const release = until("eight requests wait", () => waiting.length === 8).then(() => waiting.forEach((go) => go()));
  const ids = Array.from({ length: 150 }, (_, index) => `id-${index}`);
  const found = await source.holdings(["id-0", ...ids]);
  await release;
  expect([...found.keys()].toSorted()).toEqual(ids.slice(0, 100).toSorted());
  expect(requests).toHaveLength(100);
  expect(highest).toBe(8);
});

test("what is not read within the wait is left out", async () => {
  const { source, failures } = await holdingsOf(
    (id) => (id === "slow" ? new Promise<Answer>(() => {}) : { body: { created } }),
    100,
  );
  const start = performance.now();
  expect([...(await source.holdings(["slow", "quick"])).keys()]).toEqual(["quick"]);
  expect(performance.now() - start).toBeLessThan(2_000);
  expect(failures).toHaveLength(1);
});

test("a participant that cannot be reached gives an empty map", async () => {
  const failures: LedgerError[] = [];
  const options = { template: holding, maxWait: 1_000, onFailure: (error: LedgerError) => void failures.push(error) };
  const source = new ParticipantHoldings(endpointAt(await closedPort()), [operator], options);
  expect(await source.holdings(["one"])).toEqual(new Map());
  expect(failures.map(({ kind }) => kind)).toEqual(["lost"]);
});
