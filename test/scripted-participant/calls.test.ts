/** The unary calls, over real HTTP. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { alice, ask, creation, eventFormat, operator, template, updateFormat } from "./test-client.js";
import { ScriptedLedger } from "./ledger.js";
import { Participant } from "./participant.js";

let ledger: ScriptedLedger;
let participant: Participant;
beforeEach(async () => {
  ledger = new ScriptedLedger({ offsetsPerTransaction: 1, synchronizerId: "A::1220" });
  participant = await Participant.start({ ledger });
});
afterEach(() => participant.close());

const get = (path: string) => ask(participant.url + path);
const post = (path: string, body: object | string) => ask(participant.url + path, body);
const events = (contractId: string, format = eventFormat()) =>
  post("/v2/events/events-by-contract-id", { contractId, eventFormat: format });

test("the ledger end and the pruned offset are JSON numbers", async () => {
  expect((await get("/v2/state/ledger-end")).body).toEqual({ offset: 0 });
  ledger.transact([{ create: creation("a") }]);
  ledger.checkpoint();
  ledger.prune(1);
  expect(await get("/v2/state/ledger-end")).toEqual({ status: 200, type: "application/json", body: { offset: 2 } });
  expect((await get("/v2/state/latest-pruned-offsets")).body).toEqual({
    participantPrunedUpToInclusive: 1,
    allDivulgedContractsPrunedUpToInclusive: 0,
  });
});

test("the connected synchronizers are those of the updates", async () => {
  ledger.transact([{ create: creation("a") }], { synchronizerId: "B::1220" });
  const permission = "PARTICIPANT_PERMISSION_UNSPECIFIED";
  expect((await get(`/v2/state/connected-synchronizers?party=${operator}`)).body).toEqual({
    connectedSynchronizers: [
      { synchronizerAlias: "A", synchronizerId: "A::1220", permission },
      { synchronizerAlias: "B", synchronizerId: "B::1220", permission },
    ],
  });
});

test("the version has the maximum delay of checkpoints", async () => {
  expect((await get("/v2/version")).body).toMatchObject({
    version: "3.5.1",
    features: { offsetCheckpoint: { maxOffsetCheckpointEmissionDelay: { seconds: 75, nanos: 0 } } },
  });
});

describe("the events of a contract", () => {
  test("have the synchronizer of its creation, not its present one", async () => {
    ledger.transact([{ create: creation("a") }]);
    ledger.unassign("a", "B::1220");
    ledger.assign("a");
    const { status, body } = await events("a");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      created: { synchronizerId: "A::1220", createdEvent: { contractId: "a", offset: 1, witnessParties: [operator] } },
      archived: null,
    });
  });

  test("of an archived contract are found until they are pruned", async () => {
    ledger.transact([{ create: creation("a") }]);
    ledger.transact([{ create: creation("b") }, { archive: "a" }]);
    expect((await events("a")).body).toMatchObject({
      created: { createdEvent: { contractId: "a" } },
      archived: { synchronizerId: "A::1220", archivedEvent: { contractId: "a", offset: 2, nodeId: 1 } },
    });
    ledger.prune(2);
    expect((await events("a")).status).toBe(404);
    expect((await events("b")).status).toBe(200);
  });

  test("begin with the assignment of a contract from an unconnected synchronizer", async () => {
    ledger.enter(creation("a"), "X::1220", "A::1220");
    expect((await events("a")).body).toMatchObject({ created: { synchronizerId: "A::1220" }, archived: null });
  });

  test("are visible to stakeholders only, and by template", async () => {
    ledger.transact([{ create: creation("a") }]);
    const notFound = { status: 404, body: { code: "CONTRACT_EVENTS_NOT_FOUND", errorCategory: 11, grpcCodeValue: 5 } };
    expect(await events("other")).toMatchObject(notFound);
    expect(await events("a", eventFormat(["bob::1220"]))).toMatchObject(notFound);
    expect(await events("a", eventFormat([operator], "#utility-registry-v0:Other:Other"))).toMatchObject(notFound);
    expect(await events("a", eventFormat([alice]))).toMatchObject({ status: 200 });
  });
});

const update = (updateId: string, format = updateFormat()) =>
  post("/v2/updates/update-by-id", { updateId, updateFormat: format });

describe("an update by its id", () => {
  test("is the same as in the stream", async () => {
    ledger.transact([{ create: creation("a") }]);
    const [entry] = ledger.log.between(0);
    const updateId = entry?.updateId ?? "";
    expect(updateId).toMatch(/^1220[0-9a-f]{64}$/);
    expect((await update(updateId)).body).toMatchObject({
      update: { Transaction: { value: { updateId, offset: 1, events: [{ CreatedEvent: { contractId: "a" } }] } } },
    });
    const notFound = { status: 404, body: { code: "UPDATE_NOT_FOUND" } };
    expect(await update(updateId, updateFormat(["bob::1220"]))).toMatchObject(notFound);
    expect(await update(`1220${"0".repeat(64)}`)).toMatchObject(notFound);
    ledger.prune(1);
    expect(await update(updateId)).toMatchObject(notFound);
  });
});

describe("an invalid request", () => {
  test.each<[string, object | string]>([
    ["no JSON", "{"],
    ["an offset that is no number", { activeAtOffset: "x", eventFormat: eventFormat() }],
    ["a template without a module", { activeAtOffset: 0, eventFormat: eventFormat([operator], "TransferRule") }],
    ["a party without filters", { activeAtOffset: 0, eventFormat: { filtersByParty: { alice: null } } }],
    ["an unknown filter", { activeAtOffset: 0, eventFormat: filtered({ Other: {} }) }],
  ])("%s is rejected in plain text", async (_, body) => {
    const { status, type, body: text } = await post("/v2/state/active-contracts", body);
    expect({ status, type }).toEqual({ status: 400, type: "text/plain; charset=UTF-8" });
    expect(text).toMatch(/^Invalid value for: body \(.+\)$/);
  });

  test.each<[string, string, object]>([
    ["INVALID_ARGUMENT", "no event format", { activeAtOffset: 0 }],
    ["INVALID_ARGUMENT", "no party", { activeAtOffset: 0, eventFormat: { filtersByParty: {} } }],
    [
      "INVALID_ARGUMENT",
      "a party with other characters",
      { activeAtOffset: 0, eventFormat: eventFormat(["no body!"]) },
    ],
    ["NEGATIVE_OFFSET", "a negative offset", { activeAtOffset: -1, eventFormat: eventFormat() }],
  ])("%s: %s", async (code, _, body) => {
    expect(await post("/v2/state/active-contracts", body)).toMatchObject({ status: 400, body: { code } });
  });

  test("an offset may be a text, and is 0 by default", async () => {
    ledger.transact([{ create: creation("a") }]);
    const path = "/v2/state/active-contracts";
    expect((await post(path, { activeAtOffset: "1", eventFormat: eventFormat() })).body).toHaveLength(1);
    expect((await post(path, { eventFormat: eventFormat() })).body).toEqual([]);
  });

  test("an unknown call", async () => {
    expect(await get("/v2/other")).toMatchObject({
      status: 404,
      body: { errors: [expect.stringMatching(/^HttpMethod\(GET\), uri: http:.*\/v2\/other$/)], ledgerApiError: null },
    });
  });
});

test("an unknown package is rejected, whatever else is requested", async () => {
  const few = await Participant.start({ ledger, packageNames: ["utility-registry-v0"] });
  const cumulative = [template, "#splice-amulet:Splice.Amulet:FeaturedAppRight"].map((templateId) => ({
    identifierFilter: { TemplateFilter: { value: { templateId } } },
  }));
  const body = { activeAtOffset: 0, eventFormat: { filtersByParty: { [operator]: { cumulative } } } };
  const answer = await ask(`${few.url}/v2/state/active-contracts`, body);
  expect(answer).toMatchObject({ status: 404, body: { code: "PACKAGE_NAMES_NOT_FOUND" } });
  expect((answer.body as { cause: string }).cause).toContain("[splice-amulet]");
  await few.close();
});

test("every call is recorded with its request and status", async () => {
  await get("/v2/state/ledger-end?x=1");
  await events("a");
  expect(participant.requests).toMatchObject([
    { method: "GET", path: "/v2/state/ledger-end", query: "?x=1", status: 200, body: undefined, token: undefined },
    { method: "POST", path: "/v2/events/events-by-contract-id", status: 404, body: { contractId: "a" } },
  ]);
});

function filtered(identifierFilter: object): object {
  return { filtersByParty: { [operator]: { cumulative: [{ identifierFilter }] } } };
}
