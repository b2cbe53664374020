import type { JsonObject, Kind } from "../../store/store.js";

/** Asks for the events on contracts of the kinds, of which one of the parties is a stakeholder or witness. */
export function eventFormat(
  parties: readonly string[],
  kinds: readonly Kind[],
  includeCreatedEventBlob: boolean,
): JsonObject {
  const cumulative = kinds.map(({ packageName, entity }) => ({
    identifierFilter: {
      TemplateFilter: { value: { templateId: `#${packageName}:${entity}`, includeCreatedEventBlob } },
    },
  }));
  return { filtersByParty: Object.fromEntries(parties.map((party) => [party, { cumulative }])), verbose: false };
}
