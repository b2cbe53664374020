import type { Account } from "../../sdk/accounts.js";
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

/** The party whose credentials an account needs; undefined for a special account, which needs none. */
export const holderOf = ({ party, isSpecial }: Account): string | undefined => (isSpecial ? undefined : party);
