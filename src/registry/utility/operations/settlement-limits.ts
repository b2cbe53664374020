import { invalid } from "../../../domain/errors.js";
import type { Account } from "../../sdk/accounts.js";
import type { SettlementArguments } from "./arguments.js";

/** How large a settlement may be. Every registry has to support `worstCase`. */
export interface SettlementLimits {
  readonly legs: number;
  readonly allocations: number;
  readonly instruments: number;
  readonly accounts: number;
  readonly parties: number;
}

/** The page "The surface", section Limits: the least that a limit may be. */
export const MIN_SETTLEMENT_LIMITS: SettlementLimits = {
  legs: 25,
  allocations: 50,
  instruments: 25,
  accounts: 50,
  parties: 100,
};

/** What is supported unless the operator asks for more. */
export const DEFAULT_SETTLEMENT_LIMITS: SettlementLimits = {
  legs: 100,
  allocations: 100,
  instruments: 25,
  accounts: 200,
  parties: 200,
};

/** Throws invalid where a settlement is over a limit. */
export function checkSettlement(settlement: SettlementArguments, limits: SettlementLimits): void {
  const legs = settlement.legs.length;
  // Each leg has one instrument and two accounts, each of at most two parties: what that keeps within the limits is not counted.
  const max = {
    legs,
    allocations: settlement.allocations.length,
    instruments: legs,
    accounts: 2 * legs,
    parties: 4 * legs,
  };
  if (!isWithin(max, limits)) checkSize("settlement", sizeOf(settlement), limits);
}

/**
 * How large a settlement is. Parties are those of the accounts, owners and
 * providers both; executors and actors cost nothing here and are not counted.
 */
function sizeOf({ legs, allocations }: SettlementArguments): SettlementLimits {
  const accounts = legs.flatMap(({ sender, receiver }) => [sender, receiver]);
  return {
    legs: legs.length,
    allocations: allocations.length,
    instruments: new Set(legs.map(({ instrumentId }) => instrumentId)).size,
    accounts: new Set(accounts.map(nameOf)).size,
    parties: new Set(accounts.flatMap(({ owner, provider }) => [owner ?? [], provider ?? []].flat())).size,
  };
}

/** Throws invalid where a request is over a limit, and says over which. `what` is what messages call it. */
export function checkSize(what: string, size: Partial<SettlementLimits>, limits: SettlementLimits): void {
  for (const counted of all) {
    const found = size[counted] ?? 0;
    if (found > limits[counted]) {
      throw invalid(`the ${what} has ${found} ${counted}, and this registry supports up to ${limits[counted]}`);
    }
  }
}

const all = ["legs", "allocations", "instruments", "accounts", "parties"] as const;

const isWithin = (size: SettlementLimits, limits: SettlementLimits): boolean =>
  all.every((counted) => size[counted] <= limits[counted]);

const nameOf = ({ owner, provider, id }: Account): string => JSON.stringify([owner ?? null, provider ?? null, id]);
