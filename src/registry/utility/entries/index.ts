/** The entries and disclosures by the names that choice-contexts.ts uses. */
import type { ContextEntry, Disclosure } from "./context-entry.js";
import {
  holderCredentialsEntry,
  issuerCredentialsEntry,
  receiverCredentialsEntry,
  senderCredentialsEntry,
} from "./credentials.js";
import {
  allocationHoldingsDisclosure,
  allocationsDisclosure,
  factoryDisclosure,
  lockedHoldingDisclosure,
} from "./disclosures.js";
import { enableResultContractsEntry } from "./enable-result-contracts.js";
import {
  instrumentConfigurationEntry,
  instrumentConfigurationsEntry,
  severalInstrumentConfigurationsEntry,
} from "./instrument-configuration.js";
import { appRewardConfigurationEntry, featuredAppRightEntry } from "./rewards.js";
import { transferRuleEntry } from "./transfer-rule.js";

export const contextEntries = {
  "instrument-configuration": instrumentConfigurationEntry,
  "instrument-configurations": instrumentConfigurationsEntry,
  "several-instrument-configurations": severalInstrumentConfigurationsEntry,
  "sender-credentials": senderCredentialsEntry,
  "receiver-credentials": receiverCredentialsEntry,
  "issuer-credentials": issuerCredentialsEntry,
  "holder-credentials": holderCredentialsEntry,
  "transfer-rule": transferRuleEntry,
  "app-reward-configuration": appRewardConfigurationEntry,
  "featured-app-right": featuredAppRightEntry,
  "enable-result-contracts": enableResultContractsEntry,
} satisfies Record<string, ContextEntry>;

export type EntryName = keyof typeof contextEntries;

export const disclosures = {
  factory: factoryDisclosure,
  "locked-holding": lockedHoldingDisclosure,
  allocations: allocationsDisclosure,
  "allocation-holdings": allocationHoldingsDisclosure,
} satisfies Record<string, Disclosure>;

export type DisclosureName = keyof typeof disclosures;
