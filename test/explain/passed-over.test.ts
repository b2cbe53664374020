/** Contracts that the rules leave out before they choose are explained too. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { completeElements } from "../fixtures/operation-calls.js";
import * as requests from "../fixtures/requests.js";
import { type ExplainJson, explainingService } from "./explaining-service.js";

const accept = `POST ${requests.transferChoice("v1", "accept")("offer")}`;
const transfer = `POST ${requests.transferFactory()}`;
const newer = { createdAt: "2026-02-05T09:00:00.000000Z" };
const onB = { synchronizerId: "sync-B" };

/** The candidates of the search whose name begins so, by id: whether each is chosen, and why not. */
function candidatesOf({ searches }: ExplainJson, name: string): readonly (readonly [string, boolean, string])[] {
  const [search, ...others] = searches.filter((one) => one.name.startsWith(name));
  expect(others).toEqual([]);
  const found = (search?.candidates ?? []).map(
    ({ contract, chosen, reason }) => [contract.contractId, chosen, reason] as const,
  );
  return found.toSorted(([a], [b]) => (a < b ? -1 : 1));
}

async function explained(
  added: readonly JsonObject[],
  operation: string,
  request: JsonObject,
  contexts?: JsonObject,
): Promise<ExplainJson> {
  const service = await explainingService(completeElements({ added }), contexts);
  const { body } = await service.explain({ call: { operation, request } });
  return body;
}

const approves = (id: string, ids: readonly string[], more: JsonObject, options: JsonObject = {}): JsonObject =>
  element("TransferPreapproval", id, payload.preapproval("bob", ids, more), { ...newer, ...options });

test("the preapprovals that do not count, beside the one that is chosen", async () => {
  const added = [
    element("TransferPreapproval", "counts", payload.preapproval("bob", ["USD"])),
    element("TransferPreapproval", "older", payload.preapproval("bob", []), {
      createdAt: "2025-02-05T09:00:00.000000Z",
    }),
    approves("other-instrument", ["EUR"], {}),
    approves("other-operator", [], { operator: "operator-2::1220" }),
    approves("elsewhere", [], {}, onB),
    approves("moving", [], {}, { moving: "unassigned" }),
  ];
  const body = await explained(added, transfer, requests.transferV1("alice", "bob"));
  expect(body.answer).toMatchObject({ factoryId: "counts", transferKind: "direct" });
  expect(candidatesOf(body, "the TransferPreapproval")).toEqual([
    ["counts", true, ""],
    ["elsewhere", false, "is on a synchronizer without the configuration or the rule of the instrument"],
    ["moving", false, "is between synchronizers"],
    ["older", false, "a newer one is chosen"],
    ["other-instrument", false, "does not allow this instrument"],
    ["other-operator", false, "names another operator than the instrument's, operator::1220"],
  ]);
});

test("every preapproval if none counts, each with its reason", async () => {
  const added = [
    element("TransferPreapproval", "other-instrument", payload.preapproval("bob", ["EUR"])),
    element("TransferPreapproval", "elsewhere", payload.preapproval("bob", []), onB),
  ];
  const body = await explained(added, transfer, requests.transferV1("alice", "bob"));
  expect(body.answer).toMatchObject({ transferKind: "offer" });
  expect(candidatesOf(body, "the TransferPreapproval")).toEqual([
    ["elsewhere", false, "is on a synchronizer without the configuration or the rule of the instrument"],
    ["other-instrument", false, "does not allow this instrument"],
  ]);
});

test("a FeaturedAppRight of another DSO", async () => {
  const added = [element("FeaturedAppRight", "other-dso", payload.right({ dso: "dso-2::1220" }), newer)];
  const body = await explained(added, accept, { meta: {} }, { changes: [{ rewards: true }] });
  expect(candidatesOf(body, "the FeaturedAppRight")).toEqual([
    ["other-dso", false, "is of another DSO than the AppRewardConfiguration"],
    ["right", true, ""],
  ]);
});

test("the RegistrarServices, of which one says whether there are result contracts", async () => {
  const added = [
    element("RegistrarService", "elsewhere", payload.service(), { ...newer, ...onB }),
    element("RegistrarService", "older", payload.service(), { createdAt: "2025-02-05T09:00:00.000000Z" }),
  ];
  const body = await explained(added, accept, { meta: {} });
  expect(candidatesOf(body, "the RegistrarService of registrar registrar::1220")).toEqual([
    ["elsewhere", false, "is on synchronizer sync-B"],
    ["older", false, "a newer one is chosen"],
    ["service", true, ""],
  ]);
  const entries = body.searches.find(({ name }) => name.startsWith("the RegistrarService"))?.entries;
  expect(entries).toEqual(["utility.digitalasset.com/enable-result-contracts"]);
});

test("a configuration asked for by another scheme", async () => {
  const { registrar } = parties;
  const request = { registrar, instrumentIdentifier: { source: registrar, id: "USD", scheme: "ISIN" } };
  const body = await explained([], `POST ${requests.instrumentConfiguration}`, request);
  expect(body.causes.map(({ code }) => code)).toEqual(["configuration-missing"]);
  expect(candidatesOf(body, "the InstrumentConfiguration")).toEqual([
    ["usd", false, `is for source "${registrar}", id "USD", scheme "Internal"`],
  ]);
});
