/** Random requests to every operation. */
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../src/domain/json.js";
import { instrument, namedRegistrar, party, rarely, registrars, trader, weighted } from "./contract-arbitraries.js";
import { isObject, type Ledger, read } from "./ledger.js";
import type { FactoryOperation, IssuanceOperation, RegistrarsChoice, Request } from "./requests.js";
import { choiceContexts, type InstructionChoice } from "./table.js";

const meta = { values: {} };
const extraArgs = { context: { values: {} }, meta };

/** Mostly the registrar of the path. */
const adminOf = (of: string): fc.Arbitrary<string> =>
  weighted([40, fc.constant(of)], [1, fc.constantFrom(...registrars)]);

export const account: fc.Arbitrary<JsonValue> = weighted(
  [12, trader.map((owner): JsonValue => ({ owner, provider: null, id: "" }))],
  [2, trader.map((owner): JsonValue => ({ owner, provider: "bank::1220", id: "savings" }))],
  [2, trader.map((owner): JsonValue => ({ provider: owner, id: "" }))],
  [1, fc.constantFrom<JsonValue>("gold::1220", "silver::1220").map((owner) => ({ owner, id: "" }))],
  [2, fc.constantFrom("cip-112/mint", "cip-112/burn").map((id): JsonValue => ({ owner: null, provider: null, id }))],
);
const wrongAccount: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue>(
  { owner: null, provider: null, id: "savings" },
  { id: "" },
  { owner: null, provider: null, id: "cip-112/sender" },
);
export const anyAccount = weighted([40, account], [1, wrongAccount]);

/** Account data in the metadata of version 1; most requests have none. */
const metaV1: fc.Arbitrary<JsonObject> = weighted(
  [4, fc.constant<JsonObject>(meta)],
  [
    1,
    fc
      .record(
        {
          "cip-112/sender.id": fc.constantFrom("cip-112/mint", "cip-112/burn", "savings"),
          "cip-112/sender.provider": trader,
          "cip-112/receiver.id": fc.constantFrom("cip-112/mint", "cip-112/burn", "savings"),
          "cip-112/receiver.provider": trader,
        },
        { requiredKeys: [] },
      )
      .map((values): JsonObject => ({ values: { ...values } })),
  ],
);

/** Removes a field, once in a while. */
const damaged = (choice: fc.Arbitrary<JsonObject>, paths: readonly string[]): fc.Arbitrary<JsonObject> =>
  fc.tuple(choice, rarely(40), fc.constantFrom(...paths)).map(([whole, isDamaged, path]) => {
    const copy = structuredClone(whole);
    const steps = path.split(".");
    const last = steps.pop() ?? "";
    const inner = steps.length === 0 ? copy : read(copy, steps.join("."));
    if (isDamaged && isObject(inner)) delete inner[last];
    return copy;
  });

export const transferChoice = (registrar: string): fc.Arbitrary<JsonObject> => {
  const common = { amount: fc.constant("1.0"), instrumentId: fc.record({ admin: adminOf(registrar), id: instrument }) };
  const v1 = fc.record({
    expectedAdmin: adminOf(registrar),
    transfer: fc.record({ sender: party, receiver: party, meta: metaV1, ...common }),
    extraArgs: fc.constant<JsonObject>(extraArgs),
  });
  const v2 = fc.record({
    transfer: fc.record({ sender: anyAccount, receiver: anyAccount, meta: metaV1, ...common }),
    actors: fc.constant<JsonValue>([]),
    extraArgs: fc.constant<JsonObject>(extraArgs),
  });
  const paths = [
    "transfer",
    "transfer.sender",
    "transfer.receiver",
    "transfer.instrumentId.id",
    "transfer.instrumentId",
  ];
  return damaged(fc.oneof<fc.Arbitrary<JsonObject>[]>(v1, v2), paths);
};

export const funding = fc.oneof<fc.Arbitrary<JsonValue>[]>(
  fc.constant(null),
  fc.constant({}),
  fc.uniqueArray(instrument, { maxLength: 2 }).map((ids) => Object.fromEntries(ids.map((id) => [id, "1.0"]))),
);
export const legSide = fc.record({
  transferLegId: fc.constant("leg"),
  side: fc.constantFrom("SenderSide", "ReceiverSide"),
  otherside: account,
  amount: fc.constant("1.0"),
  instrumentId: instrument,
  meta: fc.constant<JsonObject>(meta),
});

export const allocationChoice = (registrar: string): fc.Arbitrary<JsonObject> => {
  const v1 = fc.record({
    expectedAdmin: adminOf(registrar),
    allocation: fc.record({
      transferLegId: fc.constant("leg"),
      transferLeg: fc.record({
        sender: party,
        receiver: party,
        amount: fc.constant("1.0"),
        instrumentId: fc.record({ admin: adminOf(registrar), id: instrument }),
        meta: metaV1,
      }),
    }),
  });
  const v2 = fc.record({
    allocation: fc.record(
      {
        admin: adminOf(registrar),
        authorizer: anyAccount,
        transferLegSides: fc.array(legSide, { maxLength: 3 }),
        nextIterationFunding: funding,
        committed: fc.boolean(),
      },
      { requiredKeys: ["admin", "authorizer", "transferLegSides", "committed"] },
    ),
    actors: fc.constant<JsonValue>([]),
  });
  const paths = [
    "allocation",
    "allocation.transferLeg",
    "allocation.transferLegSides",
    "allocation.authorizer",
    "allocation.transferLeg.sender",
    "allocation.transferLeg.instrumentId",
  ];
  return damaged(fc.oneof<fc.Arbitrary<JsonObject>[]>(v1, v2), paths);
};

const leg = fc.record({
  transferLegId: fc.constant("leg"),
  sender: anyAccount,
  receiver: account,
  amount: fc.constant("1.0"),
  instrumentId: instrument,
  meta: fc.constant<JsonObject>(meta),
});

/** An allocation to settle; `which` picks its contract. */
interface AllocationDraft {
  readonly which: number;
  readonly isAny: boolean;
  readonly extraTransferLegSides: JsonValue[];
  readonly nextIterationFunding: JsonValue;
}
const settledAllocation: fc.Arbitrary<AllocationDraft> = fc.record({
  which: fc.nat(),
  isAny: rarely(12),
  extraTransferLegSides: fc.array(legSide, { maxLength: 1 }),
  nextIterationFunding: funding,
});

/** At and over the limits: legs with many accounts, parties or instruments. */
const manyLegs = fc
  .record({
    count: fc.constantFrom(25, 51, 60, 61),
    accounts: fc.constantFrom(2, 50, 51, 60, 61),
    instruments: fc.constantFrom(2, 25, 26),
    hasProviders: fc.boolean(),
  })
  .map(({ count, accounts, instruments, hasProviders }) => {
    const accountAt = (index: number): JsonObject => ({
      owner: `owner-${index % accounts}::1220`,
      provider: hasProviders ? `bank-${index % accounts}::1220` : null,
      id: "",
    });
    return Array.from({ length: count }, (_, index): JsonObject => {
      const at = index % instruments;
      const instrumentId = at < 2 ? (["USD", "EUR"][at] ?? "") : `I${at}`;
      return { sender: accountAt(2 * index), receiver: accountAt(2 * index + 1), instrumentId };
    });
  });

const settlementDraft = fc.record({
  legs: weighted(
    [30, fc.array(leg, { minLength: 1, maxLength: 3 })],
    [1, fc.constant<JsonObject[]>([])],
    [2, manyLegs],
  ),
  allocations: weighted(
    [30, fc.array(settledAllocation, { maxLength: 2 })],
    [1, fc.array(settledAllocation, { minLength: 51, maxLength: 51 })],
  ),
});

/** A settlement of the registrar's allocations, mostly. */
export const settlementChoice = (registrar: string): fc.Arbitrary<(ledger: Ledger) => JsonObject> =>
  settlementDraft.map(({ legs, allocations }) => (ledger) => ({
    settlement: { executors: ["executor::1220"], id: "trade", cid: null, meta },
    transferLegs: [...legs],
    // The 51 allocations over the limit need not exist.
    allocations: allocations.map(({ which, isAny, ...others }, index) => ({
      allocationCid: allocations.length > 50 ? `00f${index}` : allocationId(ledger, registrar, which, isAny),
      ...others,
    })),
    actors: ["executor::1220"],
    extraArgs,
  }));

function allocationId(ledger: Ledger, registrar: string, which: number, isAny: boolean): string {
  const own = ledger.filter(
    ({ template, payload }) =>
      template === "DvpLegAllocation" && read(payload, "allocation.transferLeg.instrumentId.admin") === registrar,
  );
  return pick(isAny || own.length === 0 ? ledger : own, which);
}

/** The id of a contract; of none if there is none. */
export const pick = (contracts: Ledger, which: number): string =>
  contracts[which % Math.max(1, contracts.length)]?.contractId ?? "00ff";

/** A request that names contracts of the ledger as it is when the request is sent. */
export type RequestDraft = (ledger: Ledger) => Request;

const choiceNames = Object.keys(choiceContexts) as InstructionChoice[];
const isRegistrars = (choice: InstructionChoice): choice is RegistrarsChoice =>
  choice.startsWith("transfer-instruction/") || choice.startsWith("allocation/");

/** Mostly on a contract of the right template, by the right registrar. */
const choice: fc.Arbitrary<RequestDraft> = fc
  .record({
    operation: fc.constantFrom(...choiceNames),
    which: fc.nat(),
    wrong: weighted([12, fc.constant(undefined)], [1, fc.constantFrom("contract", "id", "registrar")]),
    other: namedRegistrar,
  })
  .map(({ operation, which, wrong, other }) => (ledger) => {
    const { template } = choiceContexts[operation];
    const own = ledger.filter((contract) => contract.template === template);
    const contractId = wrong === "id" ? "00ff" : pick(wrong === "contract" || own.length === 0 ? ledger : own, which);
    if (!isRegistrars(operation)) return { operation, contractId };
    const found = JSON.stringify(ledger.find((contract) => contract.contractId === contractId)?.payload ?? {});
    const admin = /"admin":"([^"]*)"/.exec(found)?.[1] ?? other;
    return { operation, registrar: wrong === "registrar" ? other : admin, contractId };
  });

const constantDraft =
  (request: Request): RequestDraft =>
  () =>
    request;

const issuance: fc.Arbitrary<RequestDraft> = fc
  .record({
    operation: fc.oneof(
      fc.constantFrom<IssuanceOperation>(
        "mint-offer/create",
        "mint-request/create",
        "burn-offer/create",
        "burn-request/create",
      ),
      fc.constant<IssuanceOperation>("burn-mint-factory"),
    ),
    registrar: namedRegistrar,
    instrument,
    holders: fc.array(fc.oneof(trader, fc.constantFrom<string>(...registrars)), { minLength: 1, maxLength: 3 }),
  })
  .map(({ operation, holders, ...others }) =>
    constantDraft({ operation, ...others, holders: operation === "burn-mint-factory" ? holders : holders.slice(0, 1) }),
  );

const lookup: fc.Arbitrary<RequestDraft> = fc
  .record({ registrar: namedRegistrar, id: instrument, isExternal: rarely(4), isOther: rarely(8) })
  .map(({ registrar, id, isExternal, isOther }) =>
    constantDraft({
      operation: "instrument-configuration",
      registrar,
      identifier: { source: isExternal ? "ISO" : registrar, id, scheme: isOther ? "Other" : "Internal" },
    }),
  );

const list: fc.Arbitrary<RequestDraft> = fc
  .record({
    operation: fc.constantFrom("instruments", "supported-apis", "instrument-configurations", "operator"),
    registrar: namedRegistrar,
  })
  .map(({ operation, registrar }) =>
    constantDraft(
      operation === "instruments" || operation === "supported-apis" ? { operation, registrar } : { operation },
    ),
  );

const allocationInstruction: fc.Arbitrary<RequestDraft> = fc
  .record({
    operation: fc.constantFrom("allocation-instruction/accept", "allocation-instruction/withdraw"),
    registrar: namedRegistrar,
    which: fc.nat(),
  })
  .map(({ operation, registrar, which }) => (ledger) => ({ operation, registrar, contractId: pick(ledger, which) }));

const factory = (
  operation: FactoryOperation,
  choiceOf: (registrar: string) => fc.Arbitrary<(ledger: Ledger) => JsonObject>,
): fc.Arbitrary<RequestDraft> =>
  fc.oneof(
    ...registrars.map((registrar, index) => ({
      weight: [14, 5, 1][index] ?? 1,
      arbitrary: fc
        .tuple(choiceOf(registrar), fc.constantFrom("v1", "v2"))
        .map(([choiceArguments, apiVersion]): RequestDraft => (ledger) => ({
          operation,
          registrar,
          choiceArguments: choiceArguments(ledger),
          apiVersion,
        })),
    })),
  );

/** Arguments that do not depend on the ledger. */
const always =
  (choiceOf: (registrar: string) => fc.Arbitrary<JsonObject>) =>
  (registrar: string): fc.Arbitrary<() => JsonObject> =>
    choiceOf(registrar).map((value) => () => value);

export const request: fc.Arbitrary<RequestDraft> = weighted(
  [5, factory("transfer-factory", always(transferChoice))],
  [4, factory("allocation-factory", always(allocationChoice))],
  [4, factory("settlement-factory", settlementChoice)],
  [14, choice],
  [5, issuance],
  [2, lookup],
  [3, list],
  [1, allocationInstruction],
);
