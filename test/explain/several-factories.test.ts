/** Explanations of requests for which factories on several synchronizers are tried: they show the one that gives the answer or the error. */
import { expect, test } from "vitest";
import { element, parties, payload, requirement } from "../fixtures/elements.js";
import * as requests from "../fixtures/requests.js";
import { type ExplainJson, explainingService } from "./explaining-service.js";

const REQUIRED = { changes: [{ credentials: "required" }] };
const { registrar } = parties;
const operation = `POST ${requests.transferFactory()}`;
const request = requests.transferV1("alice", "bob");
const onA = { synchronizerId: "sync-A", createdAt: "2026-01-01T00:00:00Z" };
const onB = { synchronizerId: "sync-B", createdAt: "2026-02-01T00:00:00Z" };
const holders = { holderRequirements: [requirement(["holds=USD"])] };

/** The newer factory is on sync-B. */
const factories = [
  element("AllocationFactory", "old-factory", payload.service(), onA),
  element("AllocationFactory", "new-factory", payload.service(), onB),
];
const lacking = `a valid credential for alice from issuer ${parties.issuer} with the claim holds = USD`;

/** The candidates of a search, each with why it was passed over: empty for the chosen one. */
const found = ({ searches }: ExplainJson, name: string) =>
  searches
    .filter((search) => search.name.startsWith(name))
    .map(({ candidates }) =>
      Object.fromEntries(candidates.map(({ contract, reason }) => [contract.contractId, reason])),
    );
const FACTORY = "the AllocationFactory";
const CONFIGURATION = "the InstrumentConfiguration";

test("one that was given up is passed over with its error, and its own searches and claims are not shown", async () => {
  const service = await explainingService(
    [
      ...factories,
      element("InstrumentConfiguration", "usd-B", payload.configuration("USD", holders), onB),
      element("InstrumentConfiguration", "usd-A", payload.configuration("USD"), onA),
    ],
    REQUIRED,
  );
  const { body } = await service.explain({ call: { operation, request } });
  expect(body).toMatchObject({ succeeds: true, answer: { factoryId: "old-factory" }, requirements: [] });
  const givenUp = `was tried first, but ${lacking} does not exist`;
  expect(found(body, FACTORY)).toEqual([{ "new-factory": givenUp, "old-factory": "" }]);
  expect(found(body, CONFIGURATION)).toEqual([{ "usd-B": "is on synchronizer sync-B", "usd-A": "" }]);
});

test("where all fail, the one with the error is shown: here the last", async () => {
  const service = await explainingService(
    [...factories, element("InstrumentConfiguration", "usd", payload.configuration("USD", holders), onA)],
    REQUIRED,
  );
  const { body } = await service.explain({ call: { operation, request } });
  // On sync-B the configuration is missing too.
  expect(body.causes.map(({ code }) => code)).toEqual(["credential-missing"]);
  expect(found(body, FACTORY)).toMatchObject([{ "old-factory": "" }]);
  expect(found(body, CONFIGURATION)).toEqual([{ usd: "" }]);
  expect(body.requirements.map(({ party }) => party)).toEqual(["alice"]);
});

test("where all fail, the one with the error is shown: here the first", async () => {
  const service = await explainingService(
    [...factories, element("InstrumentConfiguration", "usd", payload.configuration("USD", holders), onB)],
    REQUIRED,
  );
  const { body } = await service.explain({ call: { operation, request } });
  expect(body.causes.map(({ code }) => code)).toEqual(["credential-missing"]);
  expect(body.changes.map(({ cause }) => cause.code)).toEqual(["credential-missing"]);
  expect(found(body, FACTORY)).toEqual([{ "new-factory": "", "old-factory": "is on synchronizer sync-A" }]);
  expect(found(body, CONFIGURATION)).toEqual([{ usd: "" }]);
  expect(body.requirements.map(({ party }) => party)).toEqual(["alice"]);
});

test("candidates beyond those listed are counted", async () => {
  const rules = Array.from({ length: 57 }, (_, index) => element("TransferRule", `rule-${index}`, payload.service()));
  const ended = Array.from({ length: 53 }, (_, index) =>
    element(
      "Credential",
      `ended-${index}`,
      payload.credential("alice", ["holds=USD"], { validUntil: "2026-03-01T00:00:00Z" }),
    ),
  );
  const service = await explainingService([
    element("AllocationFactory", "factory", payload.service()),
    element("InstrumentConfiguration", "usd", payload.configuration("USD", holders)),
    element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "holding")),
    element("Holding", "holding", payload.lockedHolding("alice", "USD")),
    ...rules,
    ...ended,
  ]);
  const accept = { operation: `POST ${requests.transferChoice("v1", "accept")("offer", registrar)}`, request: {} };
  const { body } = await service.explain({ call: accept });
  const counts = body.searches.map(({ candidates, omittedCandidates }) => [candidates.length, omittedCandidates]);
  expect(counts).toContainEqual([50, 7]);
  expect(counts.filter(([, omitted]) => omitted !== 0)).toHaveLength(1);
  const alice = body.requirements.find(({ party }) => party === "alice");
  expect(alice?.claims.map((one) => [one.passedOver.length, one.omittedPassedOver])).toEqual([[50, 3]]);
});
