import type { ContractSelector } from "./contract-selector.js";
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

/** The requirements of an instrument; none if its configuration is not there. */
export function requirementsOf(selector: ContractSelector, role: Role, instrument: string): readonly Requirement[] {
  const configuration = selector.configuration(instrument, false);
  return configuration === undefined ? [] : requirementsFor(role, configuration.fields);
}
