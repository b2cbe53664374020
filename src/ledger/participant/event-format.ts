import type { JsonObject } from "../../domain/json.js";
import type { Template } from "../../domain/template.js";

/** Asks for the events on contracts of the kinds, of which one of the parties is a stakeholder or witness. */
export function eventFormat(
  parties: readonly string[],
  templates: readonly Template[],
  includeCreatedEventBlob: boolean,
): JsonObject {
  const cumulative = templates.map(({ packageName, qualifiedName }) => ({
    identifierFilter: {
      TemplateFilter: { value: { templateId: `#${packageName}:${qualifiedName}`, includeCreatedEventBlob } },
    },
  }));
  return { filtersByParty: Object.fromEntries(parties.map((party) => [party, { cumulative }])), verbose: false };
}
