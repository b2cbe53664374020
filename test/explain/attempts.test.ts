/** Explanations of requests for which factories on several synchronizers are tried. */
import { expect, test } from "vitest";
import { element, parties, payload, requirement } from "../fixtures/elements.js";
import * as requests from "../fixtures/requests.js";
import { explainingService } from "./explaining-service.js";

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

test("an attempt that was given up is told apart from the one that gives the answer", async () => {
  const service = await explainingService(
    [
      ...factories,
      element("InstrumentConfiguration", "usd-B", payload.configuration("USD", holders), onB),
      element("InstrumentConfiguration", "usd-A", payload.configuration("USD"), onA),
    ],
    REQUIRED,
  );
  const { body } = await service.explain({ call: { operation, request } });
  expect(body).toMatchObject({ succeeds: true, answer: { factoryId: "old-factory" }, changesNote: "" });
  expect(body.attempts.map(({ contract, answered }) => [contract.contractId, answered])).toEqual([
    ["new-factory", false],
    ["old-factory", true],
  ]);
  expect(body.attempts.map(({ causes }) => causes.map(({ code, party }) => [code, party]))).toEqual([
    [["credential-missing", "alice"]],
    [],
  ]);
  const of = (prefix: string) =>
    body.searches
      .filter(({ name }) => name.startsWith(prefix))
      .map(({ attempt, candidates }) => [
        attempt,
        candidates.map(({ contract, chosen, reason }) => [contract.contractId, chosen, reason]),
      ]);
  const givenUp = ["new-factory", false, `was tried first, but ${lacking} does not exist`];
  expect(of("the AllocationFactory")).toEqual([
    [1, [givenUp, ["old-factory", false, "is on synchronizer sync-A"]]],
    [2, [givenUp, ["old-factory", true, ""]]],
  ]);
  expect(of("the InstrumentConfiguration")).toEqual([
    [
      1,
      [
        ["usd-B", true, ""],
        ["usd-A", false, "is on synchronizer sync-A"],
      ],
    ],
    [
      2,
      [
        ["usd-B", false, "is on synchronizer sync-B"],
        ["usd-A", true, ""],
      ],
    ],
  ]);
  expect(body.requirements.map(({ party, attempt }) => [party, attempt])).toEqual([["alice", 1]]);
});

test("where all attempts fail, the one with the error is told apart", async () => {
  const service = await explainingService(
    [
      ...factories,
      element("InstrumentConfiguration", "usd", payload.configuration("USD", holders), onA),
      element("Credential", "elsewhere", payload.credential("bob", ["holds=USD"]), onA),
    ],
    REQUIRED,
  );
  const { body } = await service.explain({ call: { operation, request } });
  // On sync-B the configuration is missing too.
  expect(body.causes.map(({ code }) => code)).toEqual(["credential-missing"]);
  expect(body.attempts.map(({ answered }) => answered)).toEqual([false, true]);
});

test("the sentence about the changes names both synchronizers and how many changes each needs", async () => {
  // The one factory is alone on sync-B.
  const service = await explainingService([
    element("AllocationFactory", "factory", payload.service(), onB),
    element("TransferRule", "rule", payload.service(), onA),
    element("InstrumentConfiguration", "usd", payload.configuration("USD"), onA),
    element("InstrumentConfiguration", "eur", payload.configuration("EUR"), onA),
  ]);
  const call = {
    operation: `POST ${requests.settlementFactory()}`,
    request: requests.settlement(
      ["USD", "EUR"].map((id) => requests.leg(requests.account("alice"), requests.account("bob"), id)),
      [],
    ),
  };
  const { body } = await service.explain({ call });
  expect(body.causes.map(({ contractId }) => contractId)).toEqual(expect.arrayContaining(["usd", "eur"]));
  expect(body.changes.map(({ remedy }) => remedy)).toEqual(["Reassign contract factory to synchronizer sync-A."]);
  expect(body.changesNote).toBe(
    `This is for synchronizer sync-A, where fewer changes are needed (1) than on synchronizer sync-B ` +
      `(${body.causes.length}), where the causes are.`,
  );
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
