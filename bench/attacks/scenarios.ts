/** The scenarios by their names: an attack, and what differs from a service with default settings. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Keep } from "../processes/resources.js";
import type { Element } from "../registries/element.js";
import { generateSettlements } from "../registries/settlements.js";
import { writeSnapshot } from "../registries/snapshot.js";
import { type AttackName, attacks } from "./attackers/attacks.js";
import { startIssuer } from "./issuer/issuer.js";

export type ScenarioName = AttackName;

export interface Scenario {
  readonly settings: Readonly<Record<string, string>>;
  readonly maxDescriptors?: number;
  /** A token for the honest caller. */
  readonly token?: string;
  /** What else the scenario has seen, at its end. */
  readonly note?: () => string;
}

export const scenarioNames = Object.keys(attacks) as readonly ScenarioName[];

export async function prepareScenario(name: ScenarioName, checkout: string, keep: Keep): Promise<Scenario> {
  switch (name) {
    case "unknown-kids": {
      const { settings, token, fetches } = await keep(startIssuer());
      return { settings, token, note: () => `${fetches()} fetches of the keys` };
    }
    case "stalled-docs":
      return { settings: {}, maxDescriptors: 4_096 };
    case "unread-settlements":
      return { settings: (await keep(writeSnapshot(demoAndSettlements(checkout)))).settings };
    default:
      return { settings: {} };
  }
}

/** The demo registry for the honest caller, and one with large settlements. */
function* demoAndSettlements(checkout: string): Generator<Element> {
  const lines = readFileSync(join(checkout, "demo/registry.ndjson"), "utf8").trimEnd().split("\n");
  for (const line of lines) yield JSON.parse(line) as Element;
  yield* generateSettlements();
}
