import { combineErrors, invalid } from "../../../domain/errors.js";
import type { Account } from "../../sdk/accounts.js";
import { distinctInstruments, type SettlementArguments } from "./arguments.js";

export interface SettlementLimits {
  readonly legs: number;
  readonly allocations: number;
  readonly instruments: number;
  readonly accounts: number;
  readonly parties: number;
}

/** The worst case that every registry has to support: the token standard's limits section. */
export const MIN_SETTLEMENT_LIMITS: SettlementLimits = {
  legs: 25,
  allocations: 50,
  instruments: 25,
  accounts: 50,
  parties: 100,
};

/** Throws "invalid" that names all limits that a settlement exceeds. */
export function checkSettlement(settlement: SettlementArguments, limits: SettlementLimits): void {
  let legs = settlement.legs.length;
  let funded = 0;
  for (const { extraSides, nextIterationFunding } of settlement.allocations) {
    legs += extraSides.length;
    funded += nextIterationFunding.length;
  }
  // An upper bound is cheaper than counting: a leg has one instrument and two accounts of at most two parties each.
  const upperBound = {
    legs,
    allocations: settlement.allocations.length,
    instruments: legs + funded,
    accounts: 2 * legs,
    parties: 4 * legs,
  };
  if (!isWithin(upperBound, limits)) checkSize("settlement", measure(settlement, legs), limits);
}

/**
 * Extra sides count as legs. Counts the owners and providers of accounts as parties; executors and actors do not
 * count.
 */
function measure(settlement: SettlementArguments, legs: number): SettlementLimits {
  const extraSides = settlement.allocations.flatMap((allocation) => allocation.extraSides);
  const accounts = [
    ...settlement.legs.flatMap(({ sender, receiver }) => [sender, receiver]),
    ...extraSides.map(({ otherSide }) => otherSide),
  ];
  return {
    legs,
    allocations: settlement.allocations.length,
    instruments: distinctInstruments(settlement).length,
    accounts: new Set(accounts.map(accountName)).size,
    parties: new Set(accounts.flatMap(({ owner, provider }) => [owner ?? [], provider ?? []].flat())).size,
  };
}

/** Throws "invalid" that names all limits that a request exceeds. `label` is what the message calls the request. */
export function checkSize(label: string, size: Partial<SettlementLimits>, limits: SettlementLimits): void {
  const exceeded = units.filter((unit) => (size[unit] ?? 0) > limits[unit]);
  if (exceeded.length === 0) return;
  const [first, ...others] = exceeded.map((unit) =>
    invalid(`the ${label} has ${size[unit]} ${unit}, but this registry supports at most ${limits[unit]}`, {
      code: "limit-exceeded",
      about: { limit: unit, maximum: limits[unit] },
    }),
  );
  if (first !== undefined) throw combineErrors(first, others);
}

const units = ["legs", "allocations", "instruments", "accounts", "parties"] as const;

const isWithin = (size: SettlementLimits, limits: SettlementLimits): boolean =>
  units.every((unit) => size[unit] <= limits[unit]);

const accountName = ({ owner, provider, id }: Account): string => JSON.stringify([owner ?? null, provider ?? null, id]);
