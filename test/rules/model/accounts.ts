/** The accounts of the token standard, version 2, and their form in version 1. */
import type { JsonValue } from "../../../src/domain/json.js";
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
