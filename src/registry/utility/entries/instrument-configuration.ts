import type { NamedValue } from "../../sdk/registry.js";
import { instrumentConfigurationLookup } from "../selection/contract-selector.js";
import { entryKey } from "./choice-context-builder.js";
import type { ContextEntry } from "./context-entry.js";

/** The configuration of the instrument; left out if there are several instruments. */
export const instrumentConfigurationEntry: ContextEntry = {
  key: entryKey("instrument-configuration"),
  *prefetch({ registrar, instruments }) {
    const [only, second] = instruments;
    if (only !== undefined && second === undefined) yield instrumentConfigurationLookup(registrar, only);
  },
  value(builder, selector, { instruments }) {
    const [only] = instruments;
    const configuration = only === undefined || instruments.length > 1 ? undefined : selector.configuration(only);
    return configuration === undefined ? undefined : builder.reference(configuration);
  },
};

export const instrumentConfigurationsEntry = configurationMap(1);

/** The same, left out if there is one instrument: then instrument-configuration has it. */
export const severalInstrumentConfigurationsEntry = configurationMap(2);

function configurationMap(minInstruments: number): ContextEntry {
  return {
    key: entryKey("instrument-configurations"),
    *prefetch({ registrar, instruments }) {
      if (instruments.length < minInstruments) return;
      for (const id of instruments) yield instrumentConfigurationLookup(registrar, id);
    },
    value(builder, selector, { instruments }) {
      if (instruments.length < minInstruments) return undefined;
      const configurations: NamedValue[] = [];
      for (const id of instruments) {
        const configuration = selector.configuration(id);
        if (configuration !== undefined) configurations.push({ name: id, value: builder.reference(configuration) });
      }
      return { tag: "AV_Map", value: configurations };
    },
  };
}
