import type { JsonObject } from "../../domain/json.js";
import type { Template } from "../../domain/template.js";

/** The filter for events on contracts of the templates that one of the parties can see. */
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
