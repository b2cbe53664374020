/** Random arguments for settling allocations. */
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../src/domain/json.js";
import { account, anyAccount, funding, legSide } from "./choice-argument-arbitraries.js";
import { type Ledger, read } from "./ledger.js";
import { instrument, rarely } from "./names.js";

const meta = { values: {} };
const extraArgs = { context: { values: {} }, meta };

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
  legs: fc.oneof(
    { weight: 30, arbitrary: fc.array(leg, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constant<JsonObject[]>([]) },
    { weight: 2, arbitrary: manyLegs },
  ),
  allocations: fc.oneof(
    { weight: 30, arbitrary: fc.array(settledAllocation, { maxLength: 2 }) },
    { weight: 1, arbitrary: fc.array(settledAllocation, { minLength: 51, maxLength: 51 }) },
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
