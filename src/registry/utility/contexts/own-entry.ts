/** Turns an entry of the contexts file into the mechanism of the built-in entries. */
import type { Contract } from "../../../domain/contract.js";
import type { Template } from "../../../domain/template.js";
import type { AnyValue } from "../../sdk/registry.js";
import type { ChoiceContextBuilder, ContextEntry, Disclosure, EntryInputs } from "../context.js";
import { selectProvider } from "../entries.js";
import { type ContractSelector, type Needed, neededContract } from "../selector.js";
import type { EntryDefinition, ValueForm } from "./entry-definition.js";
import { compileLookups, type OwnLookup } from "./own-lookups.js";

interface Found {
  /** Undefined if the entry is not found by a party. */
  readonly party: string | undefined;
  readonly contract: Contract;
}

/** The entry, which can be disclosed without a value as well. `template` is that of `ownTemplates`. */
export function ownEntry(definition: EntryDefinition, template: Template): ContextEntry & Disclosure {
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

function writeValue(form: ValueForm, builder: ChoiceContextBuilder, found: readonly Found[]): AnyValue | undefined {
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
