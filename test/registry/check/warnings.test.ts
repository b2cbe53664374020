/** Warnings of the Registry Utility are what requests are told: what they name is refused, all else is answered. */
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { JsonObject } from "../../../src/util/json.js";
import { describeWarning, type Warning } from "../../../src/registry/sdk/warnings.js";
import { NOW } from "../../explain/explaining.js";
import { defectsAt, type ExpectedWarning } from "../../fixtures/defects.js";
import { element, type Options, parties, payload, requirement } from "../../fixtures/elements.js";
import { completeElements, operationCalls } from "../../fixtures/operation-calls.js";
import { checked } from "./checked.js";

/** Operations sorted, because their order has no meaning. */
const comparable = ({ kind, operations, instrument, contractId }: Warning | ExpectedWarning) => ({
  kind,
  instrument,
  contractId,
  operations: operations.toSorted(),
});
const statuses = { invalid: 400, "not-found": 404, conflict: 409, unavailable: 503, unsupported: 501 };
const statusOf = ({ refusal }: Warning) => (refusal === undefined ? undefined : statuses[refusal]);

/** The order of warnings of one kind has no meaning either. `isWhole`: with the party and the status. */
function expectWarnings(warnings: readonly Warning[], expected: readonly ExpectedWarning[], isWhole = true): void {
  const texts = (list: readonly object[]) => list.map((one) => JSON.stringify(one)).toSorted();
  const found = warnings.map((one) =>
    Object.assign(comparable(one), isWhole && { party: one.party, status: statusOf(one) }),
  );
  const wanted = expected.map((one) =>
    Object.assign(comparable(one), isWhole && { party: one.party, status: one.status }),
  );
  expect(texts(found)).toEqual(texts(wanted));
  for (const { says, kind } of expected) {
    const messages = warnings.filter((warning) => warning.kind === kind).map(describeWarning);
    expect(messages).toContainEqual(expect.stringContaining(says));
  }
}

test.each(Object.entries(defectsAt(NOW)))("%s", async (_name, defect) => {
  const { warnings, statusOf: answered } = await checked(defect.elements, parse(defect.contexts ?? ""));
  expectWarnings(warnings, defect.warnings);
  const named = warnings.flatMap((one) => {
    const status = statusOf(one);
    return status === undefined ? [] : one.operations.map((operation) => [operation, status] as const);
  });
  const refused: Record<string, number> = {};
  for (const [operation, call] of operationCalls) {
    const status = await answered(call);
    if (status !== undefined) refused[operation] = status;
  }
  expect(refused).toEqual(Object.fromEntries(named));
});

describe("choices on instructions that are not there yet are named if they would fail on one that is created now:", () => {
  const onB = { synchronizerId: "sync-B" };
  const usd = (more: JsonObject, options: Options = {}) =>
    element("InstrumentConfiguration", "usd", payload.configuration("USD", more), options);
  const moving = { moving: "unassigned", createdAt: "2026-01-06T09:00:00.000000Z" } as const;
  const newest = element("AllocationFactory", "newest", payload.service(), moving);
  const needRule = ["allocation/execute-transfer", "transfer-instruction/accept"];

  test.each<[string, Parameters<typeof completeElements>[0], string[]]>([
    ["none if nothing is wrong", {}, []],
    ["those that need a missing rule", { registry: { rule: undefined } }, needRule],
    [
      "those that need a rule, which is on another synchronizer",
      { registry: { rule: element("TransferRule", "rule", payload.service(), onB) } },
      needRule,
    ],
    [
      "none where the blocklist is not configured, which the factories name",
      { registry: { configuration: usd({ checkBlocklist: true }) }, added: [newest] },
      [],
    ],
    ["none if no instruction can be created", { registry: { factory: undefined } }, []],
    ["none if its configuration is elsewhere", { registry: { configuration: usd({}, onB) } }, []],
  ])("%s", async (_what, changes, expected) => {
    const { warnings } = await checked(completeElements({ ...changes, instructions: [], minting: [] }));
    const named = warnings.flatMap(({ operations }) => operations);
    const choices = named.filter((name) => /\/(accept|reject|withdraw|cancel|execute-transfer)$/.test(name));
    expect(choices.toSorted()).toEqual(expected.toSorted());
  });
});

describe("several groups of operator and provider under one registrar are each checked with their own contracts:", () => {
  /** The first group has everything for USD. */
  const [first, second] = [{ provider: "provider::1220" }, { provider: "second::1220" }];
  const otherOperator = { operator: "other::1220", ...second };
  const [earlier, later] = ["2026-01-04T09:00:00.000000Z", "2026-01-06T09:00:00.000000Z"].map((createdAt) => ({
    createdAt,
  }));
  const factory = (id: string, of: JsonObject = second, options: Options = {}) =>
    element("AllocationFactory", id, payload.service(of), options);
  const rule = (of: JsonObject = second, id = "rule-2") => element("TransferRule", id, payload.service(of));
  const configured = (id: string, instrument: string, more: JsonObject = {}, options: Options = {}) =>
    element("InstrumentConfiguration", id, payload.configuration(instrument, { ...second, ...more }), options);
  const eur = configured("eur", "EUR");
  const old = factory("factory-2", second, { packageId: "old" });
  const requires = (claim: string) => ({ holderRequirements: [requirement([claim])] });
  const alsoEur = { source: parties.registrar, id: "EUR", scheme: "Internal" };
  const many = Array.from({ length: 7 }, (_, at) => {
    const of = { provider: `p${at}` };
    const options = { createdAt: `2026-01-0${at + 1}T08:00:00.000000Z` };
    return [factory(`factory-${at}`, of), rule(of, `rule-${at}`), configured(`usd-${at}`, "USD", of, options)];
  }).flat();
  const ending = payload.credential("alice", ["second=yes"], { validUntil: "2026-06-03T00:00:00Z" });

  const named = "(operator operator::1220, provider second::1220)";
  const of = (provider: string) => `(operator operator::1220, provider ${provider})`;
  const creations = ["mint-offer/create", "mint-request/create", "burn-offer/create", "burn-request/create"];
  const issuing = [...creations, "burn-mint-factory"];
  const holding = ["transfer-factory/offer", "transfer-factory/direct", "allocation-factory"];
  const transfers = [...holding, "transfer-factory/self"];
  const executes = ["transfer-instruction/accept", "allocation/execute-transfer"];
  // The registrar is served: its metadata is.
  const noFactory = {
    kind: "factory-missing",
    instrument: "EUR",
    operations: [...transfers, "settlement-factory", ...issuing],
  };
  const noRule = {
    kind: "rule-missing",
    instrument: "EUR",
    operations: ["settlement-factory", ...executes],
    says: `the TransferRule of registrar registrar::1220 ${named} does not exist. Answered 404`,
  };
  const several = (contractId: string, says: string): ExpectedWarning => ({
    kind: "shared-instrument",
    instrument: "USD",
    contractId,
    says,
    operations: [...transfers, ...issuing],
  });
  const noVersion2 = {
    kind: "version-not-supported",
    instrument: "EUR",
    contractId: "factory-2",
    operations: ["settlement-factory"],
  };
  const missing = "the InstrumentConfiguration of instrument";

  const cases: Readonly<Record<string, readonly [added: readonly JsonObject[], ...ExpectedWarning[]]>> = {
    "each has its own instrument": [[factory("factory-2"), rule(), eur]],
    "one has no factory": [
      [rule(), eur],
      {
        ...noFactory,
        says: `the AllocationFactory of registrar registrar::1220 ${named} does not exist. Answered 404`,
      },
    ],
    "one has no rule": [[factory("factory-2"), eur], noRule],
    "they differ by the operator alone": [
      [factory("factory-2", { operator: "other::1220" }), configured("eur", "EUR", otherOperator)],
      { ...noFactory, says: "registrar registrar::1220 (operator other::1220, provider second::1220)" },
    ],
    "the newer one of an instrument answers": [
      [factory("factory-2"), rule(), configured("usd-2", "USD", {}, later)],
      several(
        "usd-2",
        `${named} answers, which has the newest configuration; the ledger refuses the answer for ${of("provider::1220")}`,
      ),
    ],
    "many have an instrument": [
      many,
      several(
        "usd-6",
        `${of("p6")} answers, which has the newest configuration; the ledger refuses the answer for ` +
          `${["p5", "provider::1220", "p4", "p3", "p2"].map(of).join(", ")}, and 2 more. May fail on the ledger`,
      ),
    ],
    "the older one of an instrument has no rule": [
      [factory("factory-2"), configured("usd-2", "USD", {}, earlier)],
      { ...noRule, instrument: "USD" },
      several("usd", `the ledger refuses the answer for ${named}. May fail on the ledger`),
    ],
    "an older configuration of a group is not used": [
      [
        configured("old", "USD", { ...first, checkBlocklist: true }, earlier),
        configured("odd", "USD", { ...first, additionalIdentifiers: [alsoEur] }, earlier),
        configured("eur", "EUR", first),
        configured("older", "USD", { ...first, ...requires("x=y") }, earlier),
      ],
    ],
    "an instruction is of a group without the instrument": [
      [
        factory("factory-2", second, later),
        rule(),
        element("MintOffer", "mint-2", payload.mint("alice", "USD", second)),
      ],
      {
        kind: "configuration-missing",
        instrument: "USD",
        contractId: "mint-2",
        operations: ["mint-offer/accept"],
        says: `${missing} "USD" of registrar registrar::1220 ${named} does not exist`,
      },
    ],
    "an instruction is of an instrument that no group has": [
      [element("MintOffer", "mint-2", payload.mint("alice", "GBP", second))],
      {
        kind: "configuration-missing",
        instrument: "GBP",
        // The other group has a factory, which a transfer to oneself gets.
        operations: [...holding, "settlement-factory", ...issuing, "mint-offer/accept"],
        says: `${missing} "GBP" of registrar registrar::1220 does not exist`,
      },
    ],
    "one has no version 2": [
      [old, rule(), eur],
      {
        ...noVersion2,
        says: "(operator operator::1220, provider second::1220) has no version 2 of the token standard",
      },
    ],
    "an allocation of one without version 2 is not settled by a factory": [
      [
        old,
        rule(),
        configured("eur", "EUR", requires("holds=USD")),
        element("DvpLegAllocation", "leg-2", payload.allocation("alice", "dave", "EUR", "locked", second)),
      ],
      {
        kind: "credential-missing",
        instrument: "EUR",
        contractId: "leg-2",
        operations: ["allocation/execute-transfer"],
        says: "a valid credential for dave",
      },
      { ...noVersion2, says: "0.7.0" },
    ],
    "a credential ends that the older configuration of another group requires": [
      [
        factory("factory-2"),
        rule(),
        configured("usd-2", "USD", requires("second=yes"), earlier),
        element("Credential", "second", ending),
      ],
      several("usd", `the ledger refuses the answer for ${named}`),
      {
        kind: "credential-expires",
        instrument: "USD",
        contractId: "second",
        operations: [...holding, "settlement-factory", ...executes],
        says: "From then on alice does not meet the requirements on the holder",
      },
    ],
  };

  test.each(Object.entries(cases))("%s", async (_name, [added, ...expected]) => {
    const { warnings } = await checked(completeElements({ added }), { packages: { old: "0.7.0" } });
    expectWarnings(warnings, expected, false);
  });
});
