import type { NamedValue } from "../../sdk/registry.js";
import type { ContextEntry } from "./context-entry.js";

/** The configuration of the instrument; left out if there is not exactly one instrument. */
export const instrumentConfigurationEntry: ContextEntry = {
  value(builder, selector, { instruments }, required) {
    const [only] = instruments;
    if (only === undefined || instruments.length > 1) return undefined;
    const configuration = selector.configuration(only, required);
    return configuration === undefined ? undefined : builder.reference(configuration);
  },
};

/** The configurations of all instruments, by instrument id. */
export const instrumentConfigurationsEntry: ContextEntry = {
  value(builder, selector, { instruments }, required) {
    const configurations: NamedValue[] = [];
    for (const id of instruments) {
      const configuration = selector.configuration(id, required);
      if (configuration !== undefined) configurations.push({ name: id, value: builder.reference(configuration) });
    }
    return { tag: "AV_Map", value: configurations };
  },
};
