import type { Cause } from "../../domain/errors.js";
import type { Contract } from "../../domain/contract.js";
import type { Template } from "../../domain/template.js";
import type { View } from "../../state/port.js";
import type { Choice, ChoiceQuery, Claim, IssuanceChoice, RequestContext, Requirement } from "./registry.js";

export type { Created, Exercised, History, Update } from "../../domain/ledger.js";

/** What operators look up in a registry. Its methods are synchronous and free of side effects, as those of a registry. */
export interface RegistryLookup {
  /** All registrars, by party. */
  registrars(view: View): readonly ServedRegistrar[];
  /** One for each template whose contracts may concern a party. */
  readonly partySearches: readonly PartySearch[];
  /** The choices on a contract for which there are contexts; none if it is no instruction. */
  choices(contract: Contract): readonly ChoiceCall[];
  /** The version of a package by its id; undefined if it is not known. */
  packageVersion(packageId: string): string | undefined;
}

/** The request for the context of a choice. */
export interface ChoiceCall {
  readonly choice: Choice | IssuanceChoice;
  readonly query: ChoiceQuery;
}

export interface ServedRegistrar {
  readonly party: string;
  /** By id. */
  readonly instruments: readonly ServedInstrument[];
  /** The contracts that serve all its instruments. */
  readonly services?: readonly { readonly name: string; readonly contract: Contract }[];
}

/** A registry may know only the id. */
export interface ServedInstrument {
  readonly id: string;
  readonly otherIds?: readonly string[];
  readonly paused?: boolean;
  readonly checksBlocklist?: boolean;
  readonly holderRequirements?: readonly Requirement[];
  readonly issuerRequirements?: readonly Requirement[];
  /** Its newest configuration. */
  readonly configuration?: Contract;
}

/** Searches the contracts of one template, a few of them at a time. */
export interface PartySearch<F = unknown> {
  readonly template: Template<F>;
  /** What of these contracts, which are those of `context.view`, concerns the party. */
  find(context: RequestContext, contracts: readonly Contract<F>[], party: string): PartyFindings;
}

/** What concerns a party. */
export interface PartyFindings {
  readonly credentials?: readonly FoundCredential[];
  readonly preapprovals?: readonly FoundPreapproval[];
  readonly instructions?: readonly FoundInstruction[];
}

export interface FoundCredential {
  readonly contract: Contract;
  readonly issuer: string;
  readonly holder: string;
  /** Those on the party. */
  readonly claims: readonly Claim[];
  /** Microseconds since 1970; undefined if it has always been valid, or does not end. */
  readonly validFrom: number | undefined;
  readonly validUntil: number | undefined;
}

export interface FoundPreapproval {
  readonly contract: Contract;
  readonly registrar: string;
  /** Empty for all instruments. */
  readonly instruments: readonly string[];
}

export interface FoundInstruction {
  readonly contract: Contract;
  readonly registrar: string;
  readonly instruments: readonly string[];
  readonly sender: string | undefined;
  readonly receiver: string | undefined;
  /** What is lacking for the choice that completes it, on the ledger too. */
  readonly causes: readonly Cause[];
  /** The choice that completes it; undefined if there is no context for it. */
  readonly completion: ChoiceCall | undefined;
}
