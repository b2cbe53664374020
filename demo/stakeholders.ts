/** Who sees a contract of the demo: the parties at the top of its payload, and those of its set of observers. */
import type { JsonObject, JsonValue } from "../src/domain/json.js";

/** The fields whose parties sign, each where a template has it. */
const SIGNERS = ["operator", "provider", "registrar", "dso", "issuer"];

export function stakeholders(payload: JsonObject): { signatories: string[]; observers: string[] } {
  const signatories = partiesIn(SIGNERS.map((name) => payload[name]));
  const all = partiesIn([...Object.values(payload), ...membersOf(payload.observers)]);
  return { signatories, observers: all.filter((party) => !signatories.includes(party)) };
}

function partiesIn(values: readonly (JsonValue | undefined)[]): string[] {
  const texts = values.filter((value) => typeof value === "string");
  return [...new Set(texts.filter((text) => text.includes("::1220")))];
}

/** A set of Daml's library is a map from its members to nothing. */
function membersOf(set: JsonValue | undefined): (JsonValue | undefined)[] {
  if (typeof set !== "object" || set === null || Array.isArray(set) || !Array.isArray(set.map)) return [];
  return set.map.map((pair) => (Array.isArray(pair) ? pair[0] : undefined));
}
