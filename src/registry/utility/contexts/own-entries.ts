/** The operator's own entries of the contexts file: their form, their templates, and how they are found. */
import { z } from "zod";
import type { Contract } from "../../../domain/contract.js";
import { formatValue, invalidField } from "../../../domain/errors.js";
import type { JsonObject } from "../../../domain/json.js";
import { indexKey, type Template } from "../../../domain/template.js";
import { integer, mustBe, report, textOf } from "../../../util/operator-file.js";
import { valuesAt } from "../../engine/paths.js";
import type { AnyValue } from "../../sdk/registry.js";
import type { ChoiceContextBuilder, ContextEntry, Disclosure, EntryInputs } from "../context.js";
import { selectProvider } from "../entries.js";
import { type Needed, neededContract } from "../../needed.js";
import type { ContractSelector } from "../selector.js";

/** `holder`: each holder of a mint, burn or settlement. `party`: each of sender, receiver and holders. */
const requestValues = ["registrar", "provider", "instrument", "sender", "receiver", "holder", "party"] as const;
type RequestValue = (typeof requestValues)[number];

/** Whether a request may have several parties as this value. */
const isPerParty = (value: RequestValue): boolean => value === "holder" || value === "party";

/** Whether the value is a party other than the registrar and the provider. */
const isParty = (value: RequestValue): boolean => isPerParty(value) || value === "sender" || value === "receiver";

const FIND = mustBe("a list of at least one field");

export const ownEntryForm = z
  .strictObject({
    template: z.strictObject({
      package: textOf(/^[\w-]{1,200}$/, "the name of a package: letters, digits, - and _"),
      name: textOf(/^[A-Za-z][\w.]{0,499}:[A-Za-z][\w.]{0,499}$/, "Module:Entity"),
    }),
    /** A contract is found if all of its fields have these values. */
    find: z
      .array(
        z.strictObject({
          /** A field of type text or party in the contract's payload. */
          field: textOf(
            /^[A-Za-z_][\w']{0,199}(?:\.[A-Za-z_][\w']{0,199}){0,19}$/,
            "the name of a field, or a path as details.owner",
          ),
          is: z.enum(requestValues),
          /** Compares only this many characters of the request's value. */
          prefix: integer(1, 300).optional(),
        }),
        FIND,
      )
      .min(1, FIND),
    /**
     * `contract-id`: the newest contract. `list`: the newest contract for each value of the request, each once.
     * `map-by-party`: the newest contract for each party.
     */
    value: z.enum(["contract-id", "list", "map-by-party"]),
  })
  // A value has one contract, or one for each party: several of a request would not fit.
  .superRefine(({ find, value }, context) => {
    const parties = find.filter(({ is }) => isParty(is)).length;
    if (parties > 1) report(context, ["find"], "must have at most one field that is a party of the request");
    if (value === "contract-id" && find.some(({ is }) => isPerParty(is)))
      report(context, ["value"], "must be list or map-by-party, because a request may have several such parties");
    if (value === "map-by-party" && parties === 0)
      report(context, ["value"], "must be list or contract-id, because no field is a party of the request");
    if (value === "map-by-party" && find.some(({ is }) => is === "instrument"))
      report(context, ["value"], "must be list, because a request may have several instruments for a party");
  });
export type OwnEntryDefinition = z.infer<typeof ownEntryForm>;

type Named = OwnEntryDefinition & { readonly name: string };

/** The index under which an entry finds its contracts. Names of entries are unique. */
const indexOf = (entry: string): string => `own/${entry}`;

/** The entries by name, which can be disclosed without a value as well, and their templates. Entries may share one. */
export function ownEntries(definitions: Readonly<Record<string, OwnEntryDefinition>>): {
  readonly entries: readonly (readonly [name: string, entry: ContextEntry & Disclosure])[];
  readonly templates: readonly Template[];
} {
  const named = Object.entries(definitions).map(([name, definition]): Named => Object.assign(definition, { name }));
  const templates = new Map<string, Template>();
  const entries = named.map((one) => {
    const id = `${one.template.package}#${one.template.name}`;
    const isOf = ({ template }: Named) => `${template.package}#${template.name}` === id;
    const template = templates.get(id) ?? ownTemplate(named.filter(isOf));
    templates.set(id, template);
    return [one.name, ownEntry(one, template)] as const;
  });
  return { entries, templates: [...templates.values()] };
}

function ownTemplate(entries: readonly Named[]): Template<null> {
  // The order of entries in the file does not matter.
  const indexes = entries
    .map(({ name, find }) => ({ name, paths: find.map(({ field }) => field) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    packageName: entries[0]?.template.package ?? "",
    qualifiedName: entries[0]?.template.name ?? "",
    revision: JSON.stringify(indexes),
    parse(payload) {
      const indexKeys = indexes.flatMap(({ name, paths }) => {
        const values = paths.flatMap((path) => textIn(payload, path) ?? []);
        return values.length < paths.length ? [] : indexKey(indexOf(name), ...values);
      });
      return indexKeys.length === 0 ? undefined : { fields: null, indexKeys };
    },
  };
}

/** Undefined in a contract of an older package, or that leaves an optional empty. */
function textIn(payload: JsonObject, path: string): string | undefined {
  const [value] = valuesAt(payload, path);
  if (value === undefined || typeof value === "string") return value;
  throw invalidField(path, `must be a string, but is ${formatValue(value)}`);
}

/** One lookup of a request. */
interface OwnLookup {
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
function compileLookups({ name, find }: Named): LookupsOf {
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
  find: OwnEntryDefinition["find"],
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

interface Found {
  /** Undefined if the entry is not found by a party. */
  readonly party: string | undefined;
  readonly contract: Contract;
}

function ownEntry(definition: Named, template: Template): ContextEntry & Disclosure {
  const { name, find, value: form } = definition;
  const lookupsOf = compileLookups(definition);
  const needsProvider = find.some(({ is }) => is === "provider");
  const isOfOneInstrument = form === "contract-id" && find.some(({ is }) => is === "instrument");

  const select = (selector: ContractSelector, inputs: EntryInputs, required: boolean): readonly Found[] => {
    const provider = needsProvider ? selectProvider(selector, inputs) : undefined;
    const selected: Found[] = [];
    for (const lookup of lookupsOf(selector.registrar, provider, inputs)) {
      const candidates = selector.view.byKey(template, lookup.key);
      const contract = selector.select(candidates, required, () => neededFor(name, template, lookup));
      if (contract !== undefined) selected.push({ party: lookup.party, contract });
    }
    return selected;
  };

  return {
    value(builder, selector, inputs, required) {
      // As the built-in instrument-configuration: one contract id cannot stand for several instruments.
      if (isOfOneInstrument && inputs.instruments.length > 1) return undefined;
      return writeValue(form, builder, select(selector, inputs, required));
    },
    disclose(builder, selector, inputs, required) {
      for (const { contract } of select(selector, inputs, required)) builder.disclose(contract);
    },
  };
}

function writeValue(
  form: OwnEntryDefinition["value"],
  builder: ChoiceContextBuilder,
  found: readonly Found[],
): AnyValue | undefined {
  switch (form) {
    case "contract-id": {
      const [only] = found;
      return only === undefined ? undefined : builder.reference(only.contract);
    }
    case "list":
      // Several parties may have one contract.
      return builder.referenceAll([...new Set(found.map(({ contract }) => contract))]);
    case "map-by-party":
      return {
        tag: "AV_Map",
        value: found.map(({ party = "", contract }) => ({ name: party, value: builder.reference(contract) })),
      };
  }
}

const neededFor = (name: string, { qualifiedName }: Template, { values, party }: OwnLookup): Needed =>
  neededContract(`the ${qualifiedName} for ${values.join(", ")} (entry ${name})`, { party, template: qualifiedName });
