/** Several groups of operator and provider under one registrar: each is checked with its own contracts. */
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../src/domain/json.js";
import { Decoder } from "../../../src/ledger/decode.js";
import { parseSnapshot } from "../../../src/ledger/file/snapshot.js";
import { scanWarnings } from "../../../src/registry/check/scan.js";
import { describeWarning } from "../../../src/registry/sdk/warnings.js";
import { compileContexts } from "../../../src/registry/utility/contexts.js";
import { utilityRegistry } from "../../../src/registry/utility/index.js";
import { MIN_SETTLEMENT_LIMITS } from "../../../src/registry/utility/allocation.js";
import { MemoryStore } from "../../../src/store/memory/memory-store.js";
import type { StoreScan } from "../../../src/store/port.js";
import { Replica } from "../../../src/store/postgres/replica.js";
import { PostgresWriter } from "../../../src/store/postgres/writer.js";
import { element, type Options, parties, payload, requirement } from "../../fixtures/elements.js";
import { completeElements } from "../../fixtures/operation-calls.js";
import { clock, freshSchema } from "../../fixtures/postgres-schema.js";

const NOW = Date.parse("2026-06-01T00:00:00Z");
const registry = utilityRegistry({
  settlementLimits: MIN_SETTLEMENT_LIMITS,
  contexts: compileContexts({ packages: { old: "0.7.0" } }),
});

/** The first group has everything for USD. */
const second = { provider: "second::1220" };
const [earlier, later] = ["2026-01-04T09:00:00.000000Z", "2026-01-06T09:00:00.000000Z"].map((createdAt) => ({
  createdAt,
}));
const factory = (id: string, more: JsonObject = second, options: Options = {}) =>
  element("AllocationFactory", id, payload.service(more), options);
const rule = (more: JsonObject = second) => element("TransferRule", "rule-2", payload.service(more));
const configuration = (id: string, instrument: string, more: JsonObject = {}, options: Options = {}) =>
  element("InstrumentConfiguration", id, payload.configuration(instrument, { ...second, ...more }), options);
const eur = { source: parties.registrar, id: "EUR", scheme: "Internal" };
const named = "(operator operator::1220, provider second::1220)";

const creations = ["mint-offer/create", "mint-request/create", "burn-offer/create", "burn-request/create"];
const transfers = ["transfer-factory/offer", "transfer-factory/direct", "transfer-factory/self", "allocation-factory"];
const holding = transfers.filter((name) => name !== "transfer-factory/self");
const issuing = [...creations, "burn-mint-factory"];

interface Expected {
  readonly kind: string;
  readonly instrument?: string;
  readonly contractId?: string;
  readonly operations: readonly string[];
  readonly says: string;
}

const cases: Readonly<
  Record<string, { readonly added: readonly JsonObject[]; readonly warnings: readonly Expected[] }>
> = {
  "each has its own instrument": {
    added: [factory("factory-2"), rule(), configuration("eur", "EUR")],
    warnings: [],
  },

  "one has no factory": {
    added: [rule(), configuration("eur", "EUR")],
    warnings: [
      {
        kind: "no-factory",
        // The registrar is served: its metadata is.
        operations: [...transfers, "settlement-factory", ...issuing],
        says: `the AllocationFactory of registrar registrar::1220 ${named} does not exist. Answered 404`,
      },
    ],
  },

  "one has no rule": {
    added: [factory("factory-2"), configuration("eur", "EUR")],
    warnings: [
      {
        kind: "no-rule",
        operations: ["settlement-factory", "transfer-instruction/accept", "allocation/execute-transfer"],
        says: `the TransferRule of registrar registrar::1220 ${named} does not exist. Answered 404`,
      },
    ],
  },

  "they differ by the operator alone": {
    added: [
      factory("factory-2", { operator: "other::1220" }),
      configuration("eur", "EUR", { operator: "other::1220" }),
    ],
    warnings: [
      {
        kind: "no-factory",
        operations: [...transfers, "settlement-factory", ...issuing],
        says: "the AllocationFactory of registrar registrar::1220 (operator other::1220, provider second::1220)",
      },
    ],
  },

  "the newer one of an instrument answers": {
    added: [factory("factory-2"), rule(), configuration("usd-2", "USD", {}, later)],
    warnings: [
      {
        kind: "several-groups",
        instrument: "USD",
        contractId: "usd-2",
        operations: [...transfers, ...issuing],
        says: `${named} answers, which has the newest configuration; the ledger refuses the answer for (operator operator::1220, provider provider::1220)`,
      },
    ],
  },

  "many have an instrument": {
    added: Array.from({ length: 7 }, (_, index) => {
      const more = { provider: `p${index}` };
      const options = { createdAt: `2026-01-0${index + 1}T08:00:00.000000Z` };
      const usd = configuration(`usd-${index}`, "USD", more, options);
      return [factory(`factory-${index}`, more), element("TransferRule", `rule-${index}`, payload.service(more)), usd];
    }).flat(),
    warnings: [
      {
        kind: "several-groups",
        instrument: "USD",
        contractId: "usd-6",
        operations: [...transfers, ...issuing],
        says:
          "(operator operator::1220, provider p6) answers, which has the newest configuration; the ledger refuses the answer " +
          "for (operator operator::1220, provider p5), (operator operator::1220, provider provider::1220), " +
          "(operator operator::1220, provider p4), (operator operator::1220, provider p3), " +
          "(operator operator::1220, provider p2), and 2 more. May fail on the ledger",
      },
    ],
  },

  "the older one of an instrument has no rule": {
    added: [factory("factory-2"), configuration("usd-2", "USD", {}, earlier)],
    warnings: [
      {
        kind: "no-rule",
        operations: ["settlement-factory", "transfer-instruction/accept", "allocation/execute-transfer"],
        says: `the TransferRule of registrar registrar::1220 ${named} does not exist. Answered 404`,
      },
      {
        kind: "several-groups",
        instrument: "USD",
        contractId: "usd",
        operations: [...transfers, ...issuing],
        says: `the ledger refuses the answer for ${named}. May fail on the ledger`,
      },
    ],
  },

  "an older configuration of a group is not used": {
    added: [
      configuration("old", "USD", { provider: "provider::1220", checkBlocklist: true }, earlier),
      configuration("odd", "USD", { provider: "provider::1220", additionalIdentifiers: [eur] }, earlier),
      configuration("eur", "EUR", { provider: "provider::1220" }),
      configuration(
        "older",
        "USD",
        { provider: "provider::1220", holderRequirements: [requirement(["x=y"])] },
        earlier,
      ),
    ],
    warnings: [],
  },

  "an instruction is of a group without the instrument": {
    added: [
      factory("factory-2", second, later),
      rule(),
      element("MintOffer", "mint-2", payload.mint("alice", "USD", second)),
    ],
    warnings: [
      {
        kind: "no-configuration",
        instrument: "USD",
        operations: ["mint-offer/accept"],
        says: `the InstrumentConfiguration of instrument "USD" of registrar registrar::1220 ${named} does not exist`,
      },
    ],
  },

  "an instruction is of an instrument that no group has": {
    added: [element("MintOffer", "mint-2", payload.mint("alice", "GBP", second))],
    warnings: [
      {
        kind: "no-configuration",
        instrument: "GBP",
        // The other group has a factory, which a transfer to oneself gets.
        operations: [...holding, "settlement-factory", ...issuing, "mint-offer/accept"],
        says: 'the InstrumentConfiguration of instrument "GBP" of registrar registrar::1220 does not exist',
      },
    ],
  },

  "one has no version 2": {
    added: [factory("factory-2", second, { packageId: "old" }), rule(), configuration("eur", "EUR")],
    warnings: [
      {
        kind: "no-version-2",
        contractId: "factory-2",
        operations: ["settlement-factory"],
        says: "Requests of version 2 for a factory of provider second::1220 are refused. Answered 404: settlement-factory",
      },
    ],
  },

  "an allocation of one without version 2 is not settled by a factory": {
    added: [
      factory("factory-2", second, { packageId: "old" }),
      rule(),
      configuration("eur", "EUR", { holderRequirements: [requirement(["holds=USD"])] }),
      element("DvpLegAllocation", "leg-2", payload.allocation("alice", "dave", "EUR", "locked", second)),
    ],
    warnings: [
      {
        kind: "credentials-missing",
        instrument: "EUR",
        contractId: "leg-2",
        operations: ["allocation/execute-transfer"],
        says: "allocation leg-2: a valid credential for dave",
      },
      { kind: "no-version-2", contractId: "factory-2", operations: ["settlement-factory"], says: "0.7.0" },
    ],
  },

  "a credential ends that the older configuration of another group requires": {
    added: [
      factory("factory-2"),
      rule(),
      configuration("usd-2", "USD", { holderRequirements: [requirement(["second=yes"])] }, earlier),
      element(
        "Credential",
        "second",
        payload.credential("alice", ["second=yes"], { validUntil: "2026-06-03T00:00:00Z" }),
      ),
    ],
    warnings: [
      {
        kind: "several-groups",
        instrument: "USD",
        contractId: "usd",
        operations: [...transfers, ...issuing],
        says: `the ledger refuses the answer for ${named}`,
      },
      {
        kind: "credential-expires",
        instrument: "USD",
        contractId: "second",
        operations: [...holding, "settlement-factory", "transfer-instruction/accept", "allocation/execute-transfer"],
        says: "From then on alice does not meet the requirements on the holder",
      },
    ],
  },
};

async function storeOf(elements: readonly JsonObject[]): Promise<MemoryStore> {
  const file = elements.map((one) => `${JSON.stringify(one)}\n`).join("");
  const { contracts, problems } = parseSnapshot(file, new Decoder(registry.templates));
  expect(problems).toEqual([]);
  const store = new MemoryStore();
  await store.replace(contracts, 10);
  return store;
}

async function warningsOf(scan: StoreScan) {
  const options = { credentialDays: 30, now: () => NOW, pause: () => Promise.resolve() };
  const { found } = await scanWarnings(scan, registry.checks ?? [], {
    ...options,
    signal: new AbortController().signal,
  });
  return found.warnings();
}

const sorted = (names: readonly string[]) => names.toSorted((a, b) => (a < b ? -1 : 1));

test.each(Object.entries(cases))("%s", async (_name, { added, warnings }) => {
  const store = await storeOf(completeElements({ added }));
  const found = await warningsOf(store.openScan());
  expect(
    found.map(({ kind, instrument, contractId, operations }) => ({
      kind,
      instrument,
      contractId,
      operations: sorted(operations),
    })),
  ).toEqual(
    warnings.map(({ kind, instrument, contractId, operations }) => ({
      kind,
      instrument,
      contractId,
      operations: sorted(operations),
    })),
  );
  for (const [index, { says }] of warnings.entries()) {
    const warning = found[index];
    expect(warning === undefined ? "" : describeWarning(warning)).toContain(says);
  }
});

test("a database finds the same", async () => {
  const schema = await freshSchema();
  onTestFinished(() => schema.drop());
  const { templates } = registry;
  for (const { added } of Object.values(cases)) {
    const store = await storeOf(completeElements({ added }));
    await schema.empty();
    const content = { contentId: "tests", origin: "tests" };
    const writer = await PostgresWriter.begin(schema.database, 0, content, () => undefined);
    await writer.replace(
      store.read((view) => templates.flatMap((template) => view.all(template))),
      10,
    );
    const replica = new Replica(schema.database, { templates, contentId: "tests", cacheBytes: 1_000_000, clock });
    expect(await warningsOf(replica.openScan())).toEqual(await warningsOf(store.openScan()));
  }
});
