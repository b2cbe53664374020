/** The built-in entries and disclosures, by the names that contexts.yaml uses. */
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
import { instrumentConfigurationEntry, instrumentConfigurationsEntry } from "./instrument-configuration.js";
import { appRewardConfigurationEntry, featuredAppRightEntry } from "./rewards.js";
import { transferRuleEntry } from "./transfer-rule.js";

export const builtInEntries: Readonly<Record<string, ContextEntry>> = {
  "instrument-configuration": instrumentConfigurationEntry,
  "instrument-configurations": instrumentConfigurationsEntry,
  "sender-credentials": senderCredentialsEntry,
  "receiver-credentials": receiverCredentialsEntry,
  "issuer-credentials": issuerCredentialsEntry,
  "holder-credentials": holderCredentialsEntry,
  "transfer-rule": transferRuleEntry,
  "app-reward-configuration": appRewardConfigurationEntry,
  "featured-app-right": featuredAppRightEntry,
  "enable-result-contracts": enableResultContractsEntry,
};

export const builtInDisclosures: Readonly<Record<string, Disclosure>> = {
  factory: factoryDisclosure,
  "locked-holding": lockedHoldingDisclosure,
  allocations: allocationsDisclosure,
  "allocation-holdings": allocationHoldingsDisclosure,
};
