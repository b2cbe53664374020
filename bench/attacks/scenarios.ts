/** The scenarios by their names: an attack, and what differs from a service with default settings. */
import { type AttackName, attacks } from "./attackers/attacks.js";

export type ScenarioName = AttackName;

export interface Scenario {
  readonly maxDescriptors?: number;
}

export const scenarioNames = Object.keys(attacks) as readonly ScenarioName[];

const differences: Partial<Record<ScenarioName, Scenario>> = {};

export const scenarioOf = (name: ScenarioName): Scenario => differences[name] ?? {};
