import type { InstrumentConfiguration, Requirement } from "../../sdk/registry.js";

/** Which of an instrument's requirements apply: those for holding it, or those for minting and burning it. */
export type Role = "holder" | "issuer";

export interface Holder {
  readonly party: string;
  readonly instruments: readonly string[];
}

export function requirementsFor(role: Role, configuration: InstrumentConfiguration): readonly Requirement[] {
  return role === "holder" ? configuration.holderRequirements : configuration.issuerRequirements;
}
