/** Turns an entry of the contexts file into the mechanism of the built-in entries. */
import type { Contract } from "../../../domain/contract.js";
import { indexKey, type Template } from "../../../domain/template.js";
import type { ContractLookup } from "../../../store/port.js";
import type { AnyValue } from "../../sdk/registry.js";
import { JsonReader } from "../../sdk/json-reader.js";
import type { ChoiceContextBuilder } from "../entries/choice-context-builder.js";
import type { ContextEntry, Disclosure, EntryInputs } from "../entries/context-entry.js";
import { candidateProviders, selectProvider } from "../entries/provider.js";
import type { ContractSelector } from "../selection/contract-selector.js";
import { type EntryDefinition, isParty, type RequestValue } from "./entry-definition.js";

/** One lookup of a request: the index key, and the party for which it is made. */
interface KeyedLookup {
  readonly key: string;
  /** Undefined if the entry is not found by a party. */
  readonly party: string | undefined;
  /** What messages call the contract. */
  readonly label: string;
}

/** The entry, which can be disclosed without a value as well. `template` is that of `ownTemplates`. */
export function ownEntry(definition: EntryDefinition, template: Template): ContextEntry & Disclosure {
  const needsProvider = definition.find.some(({ is }) => is === "provider");
  const lookupsOf = (registrar: string, provider: string | undefined, inputs: EntryInputs): ContractLookup[] =>
    keyedLookups(definition, registrar, provider, inputs).map(({ key }) => ({ template, indexKey: key }));
  return {
    prefetch: (inputs) => (needsProvider ? [] : lookupsOf(inputs.registrar, undefined, inputs)),
    *prefetchByConfiguration(inputs, view) {
      if (!needsProvider) return;
      for (const provider of candidateProviders(inputs, view)) yield* lookupsOf(inputs.registrar, provider, inputs);
    },
    value: (builder, selector, inputs, required) =>
      writeValue(definition, builder, find(definition, template, selector, inputs, required)),
    disclose(builder, selector, inputs, required) {
      for (const { contract } of find(definition, template, selector, inputs, required)) builder.disclose(contract);
    },
  };
}

function writeValue(
  { value }: EntryDefinition,
  builder: ChoiceContextBuilder,
  found: readonly { readonly party: string | undefined; readonly contract: Contract }[],
): AnyValue | undefined {
  switch (value) {
    case "contract-id": {
      const [only] = found;
      return only === undefined ? undefined : builder.reference(only.contract);
    }
    case "list":
      return builder.referenceAll([...new Set(found.map(({ contract }) => contract))]);
    case "map-by-party":
      return {
        tag: "AV_Map",
        value: found.flatMap(({ party, contract }) =>
          party === undefined ? [] : [{ name: party, value: builder.reference(contract) }],
        ),
      };
  }
}

/** The newest contract for each value of the request, on the synchronizer of the answer. */
function find(
  definition: EntryDefinition,
  template: Template,
  selector: ContractSelector,
  inputs: EntryInputs,
  required: boolean,
): { party: string | undefined; contract: Contract }[] {
  const needsProvider = definition.find.some(({ is }) => is === "provider");
  const provider = needsProvider ? selectProvider(selector, inputs) : undefined;
  return keyedLookups(definition, selector.registrar, provider, inputs).flatMap(({ key, party, label }) => {
    const candidates = selector.view.byKey(template, key);
    const contract = selector.newest(candidates) ?? selector.missing(candidates, required, label);
    return contract === undefined ? [] : [{ party, contract }];
  });
}

/** A lookup for each combination of an instrument and a party, as far as the entry is found by them. */
function keyedLookups(
  { name, template, find: matches, value }: EntryDefinition,
  registrar: string,
  provider: string | undefined,
  inputs: EntryInputs,
): KeyedLookup[] {
  const { instruments } = inputs;
  const byParty = matches.find(({ is }) => isParty(is));
  const byInstrument = matches.some(({ is }) => is === "instrument");
  // As the built-in instrument-configuration: one contract id cannot stand for several instruments.
  if (value === "contract-id" && byInstrument && instruments.length > 1) return [];
  const parties = byParty === undefined ? [undefined] : partiesOf(byParty.is, inputs);
  return parties.flatMap((party) =>
    (byInstrument ? instruments : [undefined]).flatMap((instrument) => {
      const values = matches.map(({ is, prefix }) => {
        const text = isParty(is) ? party : is === "registrar" ? registrar : is === "provider" ? provider : instrument;
        return prefix === undefined ? text : text?.slice(0, prefix);
      });
      const known = values.filter((text) => text !== undefined);
      if (known.length < values.length) return [];
      const label = `the ${template.name} for ${known.join(", ")} (entry ${name})`;
      return [{ key: indexKey(`own/${name}`, ...known), party, label }];
    }),
  );
}

/** The parties of the request, each once. Special accounts have none. */
function partiesOf(is: RequestValue, { sender, receiver, issuers = [], holders = [] }: EntryInputs): readonly string[] {
  const others = [...issuers, ...holders.map(({ party }) => party)];
  const all =
    is === "sender"
      ? [sender]
      : is === "receiver"
        ? [receiver]
        : is === "holder"
          ? others
          : [sender, receiver, ...others];
  return [...new Set(all.filter((party) => party !== undefined))];
}

/** The templates of the entries, by package and qualified name. Entries may share one. */
export function ownTemplates(definitions: readonly EntryDefinition[]): ReadonlyMap<string, Template> {
  const byTemplate = new Map<string, EntryDefinition[]>();
  for (const definition of definitions) {
    const name = templateName(definition);
    byTemplate.set(name, [...(byTemplate.get(name) ?? []), definition]);
  }
  return new Map([...byTemplate].map(([name, entries]) => [name, ownTemplate(name, entries)]));
}

export const templateName = ({ template }: EntryDefinition): string => `${template.package}#${template.name}`;

function ownTemplate(name: string, entries: readonly EntryDefinition[]): Template<null> {
  const [packageName = "", qualifiedName = ""] = name.split("#");
  return {
    packageName,
    qualifiedName,
    revision: JSON.stringify(entries.map(({ name, find: matches }) => [name, ...matches.map(({ field }) => field)])),
    parse(payload) {
      const fields = new JsonReader(payload, "");
      const keyOf = ({ name, find: matches }: EntryDefinition) =>
        indexKey(`own/${name}`, ...matches.map(({ field }) => textAt(fields, field)));
      return { fields: null, indexKeys: entries.map(keyOf) };
    },
  };
}

/** The text at a path such as `details.registrar`. */
function textAt(fields: JsonReader, path: string): string {
  const names = path.split(".");
  const last = names.pop() ?? "";
  return names.reduce((object, name) => object.object(name), fields).text(last);
}
