import { indexKey } from "../../../domain/template.js";
import type { EntryInputs } from "../context.js";
import { type EntryDefinition, type FieldMatch, isParty, type RequestValue } from "./entry-definition.js";
import { indexOf } from "./own-template.js";

/** One lookup of a request. */
export interface OwnLookup {
  /** The index key. */
  readonly key: string;
  /** The values that the fields must have. */
  readonly values: readonly string[];
  /** The party for which it is made; undefined if the entry is not found by a party. */
  readonly party: string | undefined;
}

type LookupsOf = (registrar: string, provider: string | undefined, inputs: EntryInputs) => readonly OwnLookup[];

/**
 * A function that returns a lookup for each combination of a party and an instrument, as far as the entry is found by
 * them. A request that lacks one of the values has none. Several parties may share a key, by a prefix.
 */
export function compileLookups({ name, find }: EntryDefinition): LookupsOf {
  const index = indexOf(name);
  const byParty = find.find(({ is }) => isParty(is))?.is;
  const byInstrument = find.some(({ is }) => is === "instrument");
  const makeLookup = (request: Values): OwnLookup | undefined => {
    const values = valuesOf(find, request);
    return values === undefined ? undefined : { key: indexKey(index, ...values), values, party: request.party };
  };
  const lookupOf = memoizeByParty(makeLookup);
  return (registrar, provider, inputs) => {
    const lookups: OwnLookup[] = [];
    for (const party of byParty === undefined ? ONCE : partiesOf(byParty, inputs)) {
      for (const instrument of byInstrument ? instrumentsOf(byParty, party, inputs) : ONCE) {
        const lookup = lookupOf({ registrar, provider, instrument, party });
        if (lookup !== undefined) lookups.push(lookup);
      }
    }
    return lookups;
  };
}

const MAX_PARTIES = 10_000;
const MAX_PARTY_LENGTH = 300;

/**
 * Keeps the lookups of parties for the latest registrar, provider and instrument: most requests are about the same. An
 * entry found by two parties takes 0.3 µs instead of 1.1; can go when the store takes the values of a key.
 */
function memoizeByParty(make: (request: Values) => OwnLookup | undefined): typeof make {
  const byParty = new Map<string | undefined, OwnLookup | undefined>();
  let latest: Values | undefined;
  return (request) => {
    const { registrar, provider, instrument, party } = request;
    if (latest?.registrar !== registrar || latest.provider !== provider || latest.instrument !== instrument) {
      byParty.clear();
      latest = request;
    }
    const known = byParty.get(party);
    if (known !== undefined) return known;
    const lookup = make(request);
    if (byParty.size >= MAX_PARTIES) byParty.clear();
    if (party === undefined || party.length <= MAX_PARTY_LENGTH) byParty.set(party, lookup);
    return lookup;
  };
}

const ONCE = [undefined] as const;

interface Values {
  readonly registrar: string;
  readonly provider: string | undefined;
  readonly instrument: string | undefined;
  readonly party: string | undefined;
}

/** The values of the fields, in their order; undefined if the request lacks one. */
function valuesOf(
  find: readonly FieldMatch[],
  { registrar, provider, instrument, party }: Values,
): string[] | undefined {
  const values: string[] = [];
  for (const { is, prefix } of find) {
    const text =
      is === "registrar" ? registrar : is === "provider" ? provider : is === "instrument" ? instrument : party;
    if (text === undefined) return undefined;
    values.push(prefix === undefined ? text : prefixOf(text, prefix));
  }
  return values;
}

/** The first characters. One that takes two code units is not cut in half. */
function prefixOf(text: string, length: number): string {
  let end = 0;
  for (let count = 0; count < length && end < text.length; count++)
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

/** The parties of the request that are such a value, each once. Special accounts have none. */
function partiesOf(is: RequestValue, { sender, receiver, issuers = [], holders = [] }: EntryInputs): Iterable<string> {
  const parties = new Set<string>();
  if (sender !== undefined && (is === "sender" || is === "party")) parties.add(sender);
  if (receiver !== undefined && (is === "receiver" || is === "party")) parties.add(receiver);
  if (is === "sender" || is === "receiver") return parties;
  for (const party of issuers) parties.add(party);
  for (const { party } of holders) parties.add(party);
  return parties;
}

/** The instruments that the party sends, receives or holds in the request; all of them without a party. */
function instrumentsOf(
  is: RequestValue | undefined,
  party: string | undefined,
  { instruments, sender, sent = instruments, holders = [] }: EntryInputs,
): Iterable<string> {
  if (party === sender && is === "sender") return sent;
  const holder = holders.find((one) => one.party === party);
  return holder === undefined ? instruments : holder.instruments;
}
