/** The stakeholders of a demo contract: the parties among its top-level fields and in its set of observers. */
import type { JsonObject, JsonValue } from "../src/util/json.js";

const SIGNATORY_FIELDS = ["operator", "provider", "registrar", "dso", "issuer"];

export function stakeholders(payload: JsonObject): { signatories: string[]; observers: string[] } {
  const signatories = filterParties(SIGNATORY_FIELDS.map((name) => payload[name]));
  const all = filterParties([...Object.values(payload), ...readSet(payload.observers)]);
  return { signatories, observers: all.filter((party) => !signatories.includes(party)) };
}

function filterParties(values: readonly (JsonValue | undefined)[]): string[] {
  const texts = values.filter((value) => typeof value === "string");
  return [...new Set(texts.filter((text) => text.includes("::1220")))];
}

/** The members of a DA.Set, which is a map with unit values. */
function readSet(set: JsonValue | undefined): (JsonValue | undefined)[] {
  if (typeof set !== "object" || set === null || Array.isArray(set) || !Array.isArray(set.map)) return [];
  return set.map.map((pair) => (Array.isArray(pair) ? pair[0] : undefined));
}
