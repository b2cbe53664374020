/** What the factories need from the arguments of their choices, and the accounts of the token standard. Throws BadRequest. */
import type { JsonObject, JsonValue } from "../../../src/domain/json.js";
import { isObject, read, readText } from "./ledger.js";

/** Where a request is malformed: status 400. */
export class BadRequest extends Error {}

export interface Account {
  /** The owner, else the provider. Undefined for a special account, which stands for the instrument's admin. */
  readonly party: string | undefined;
  /** Every party that the account names: its owner and its provider. */
  readonly named: readonly string[];
  /** Equal for equal accounts. */
  readonly key: string;
}

/** The party by which version 1 names the special account. */
export const NO_OWNER = "cip-112_no-owner::1220000000000000000000000000000000000000000000000000000000000000abcd";
const specialIds = new Set<string | undefined>(["cip-112/mint", "cip-112/burn"]);

const special = (id: string | undefined): Account => ({ party: undefined, named: [], key: `special ${id ?? ""}` });

/** An account that is a party alone. */
export function partyAccount(party: string): Account {
  return party === NO_OWNER ? special(undefined) : { party, named: [party], key: JSON.stringify([party, null, ""]) };
}

/** An account of version 2: `{owner, provider, id}`. */
export function accountV2(value: JsonValue | undefined): Account {
  if (!isObject(value)) throw new BadRequest("an account must be an object");
  const owner = readText(value, "owner");
  const provider = readText(value, "provider");
  const id = readText(value, "id");
  const party = owner ?? provider;
  if (party === undefined) {
    if (specialIds.has(id)) return special(id);
    throw new BadRequest("an account without owner and provider must be special");
  }
  return {
    party,
    named: [owner ?? [], provider ?? []].flat(),
    key: JSON.stringify([owner ?? null, provider ?? null, id ?? ""]),
  };
}

/** A party of version 1. `meta.values` may carry account data for the special account. */
export function accountV1(terms: JsonValue | undefined, side: "sender" | "receiver"): Account {
  const party = readText(terms, side);
  if (party === undefined) throw new BadRequest(`${side} is missing`);
  if (party !== NO_OWNER) return partyAccount(party);
  const values = read(terms, "meta.values");
  const metaOf = (name: string): string | undefined => {
    const value = isObject(values) ? values[`cip-112/${side}.${name}`] : undefined;
    return typeof value === "string" ? value : undefined;
  };
  const provider = metaOf("provider");
  if (provider !== undefined) return partyAccount(provider);
  const id = metaOf("id");
  if (id !== undefined && !specialIds.has(id)) throw new BadRequest(`no special account has the id ${id}`);
  return special(id);
}

export interface Limits {
  readonly legs: number;
  readonly allocations: number;
  readonly instruments: number;
  readonly accounts: number;
  readonly parties: number;
}

export interface Transfer {
  readonly sender: Account;
  readonly receiver: Account;
  readonly instrument: string;
}

/** Version 1 names parties, version 2 accounts. */
export function transferArguments(registrar: string, choice: JsonObject): Transfer {
  checkAdmin(registrar, read(choice, "expectedAdmin"));
  const transfer = requireObject(choice, "transfer");
  const account = (side: "sender" | "receiver"): Account =>
    isObject(read(transfer, side)) ? accountV2(read(transfer, side)) : accountV1(transfer, side);
  return { sender: account("sender"), receiver: account("receiver"), instrument: ownInstrument(registrar, transfer) };
}

export interface Allocation {
  readonly sender: Account;
  readonly instruments: readonly string[];
  readonly sent: readonly string[];
}

/** Version 1 has one leg, version 2 sides of legs. */
export function allocationArguments(registrar: string, choice: JsonObject): Allocation {
  checkAdmin(registrar, read(choice, "expectedAdmin"));
  const allocation = requireObject(choice, "allocation");
  if (read(allocation, "transferLegSides") === undefined) {
    const leg = requireObject(allocation, "transferLeg");
    const instrument = ownInstrument(registrar, leg);
    return { sender: accountV1(leg, "sender"), instruments: [instrument], sent: [instrument] };
  }
  checkAdmin(registrar, requireText(allocation, "admin"));
  const sender = accountV2(read(allocation, "authorizer"));
  const sides = requireList(allocation, "transferLegSides");
  const funded = Object.keys(read(allocation, "nextIterationFunding") ?? {});
  const named = sides.map((side) => requireText(side, "instrumentId"));
  const sent = sides
    .filter((side) => requireSide(side) === "SenderSide")
    .map((side) => requireText(side, "instrumentId"));
  return { sender, instruments: distinct([...named, ...funded]), sent: distinct([...sent, ...funded]) };
}

export interface Settlement {
  readonly legs: readonly Transfer[];
  readonly allocations: readonly SettledAllocation[];
}

export interface SettledAllocation {
  readonly contractId: string;
  readonly extraSides: readonly { readonly otherside: Account; readonly instrument: string }[];
  readonly funded: readonly string[];
}

export function settlementArguments(choice: JsonObject, limits: Limits): Settlement {
  const legs = requireList(choice, "transferLegs").map((leg) => ({
    sender: accountV2(read(leg, "sender")),
    receiver: accountV2(read(leg, "receiver")),
    instrument: requireText(leg, "instrumentId"),
  }));
  if (legs.length === 0) throw new BadRequest("a settlement needs at least one leg");
  const allocations = requireList(choice, "allocations").map((allocation) => ({
    contractId: requireText(allocation, "allocationCid"),
    extraSides: requireList(allocation, "extraTransferLegSides").map((side) => ({
      otherside: accountV2(read(side, "otherside")),
      instrument: requireText(side, "instrumentId"),
    })),
    funded: Object.keys(read(allocation, "nextIterationFunding") ?? {}),
  }));
  checkLimits({ legs, allocations }, limits);
  return { legs, allocations };
}

/** The instruments of the legs, then of the extra sides, then of the funding of each allocation. */
export function settledInstruments({ legs, allocations }: Settlement): readonly string[] {
  const extra = allocations.flatMap(({ extraSides }) => extraSides.map(({ instrument }) => instrument));
  const funded = allocations.flatMap((allocation) => allocation.funded);
  return distinct([...legs.map(({ instrument }) => instrument), ...extra, ...funded]);
}

/** Extra sides count as legs. Executors and actors are no parties of accounts. */
function checkLimits(settlement: Settlement, limits: Limits): void {
  const extra = settlement.allocations.flatMap(({ extraSides }) => extraSides);
  const accounts = [
    ...settlement.legs.flatMap(({ sender, receiver }) => [sender, receiver]),
    ...extra.map(({ otherside }) => otherside),
  ];
  const size: Limits = {
    legs: settlement.legs.length + extra.length,
    allocations: settlement.allocations.length,
    instruments: settledInstruments(settlement).length,
    accounts: distinct(accounts.map(({ key }) => key)).length,
    parties: distinct(accounts.flatMap(({ named }) => named)).length,
  };
  for (const unit of ["legs", "allocations", "instruments", "accounts", "parties"] as const)
    if (size[unit] > limits[unit]) throw new BadRequest(unit);
}

export const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];

function ownInstrument(registrar: string, terms: JsonValue): string {
  checkAdmin(registrar, requireText(terms, "instrumentId.admin"));
  return requireText(terms, "instrumentId.id");
}

/** `expectedAdmin` may be absent, as in version 2. */
function checkAdmin(registrar: string, admin: JsonValue | undefined): void {
  if (admin !== undefined && admin !== registrar) throw new BadRequest(`the admin is not ${registrar}`);
}

function requireText(value: JsonValue, path: string): string {
  const found = readText(value, path);
  if (found === undefined) throw new BadRequest(`${path} is missing`);
  return found;
}

function requireObject(value: JsonValue, path: string): JsonObject {
  const found = read(value, path);
  if (!isObject(found)) throw new BadRequest(`${path} must be an object`);
  return found;
}

function requireList(value: JsonValue, path: string): readonly JsonValue[] {
  const found = read(value, path);
  if (!Array.isArray(found)) throw new BadRequest(`${path} must be a list`);
  return found;
}

function requireSide(value: JsonValue): string {
  const side = requireText(value, "side");
  if (side !== "SenderSide" && side !== "ReceiverSide") throw new BadRequest("side");
  return side;
}
