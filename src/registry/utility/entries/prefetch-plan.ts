import type { ContractLookup, View } from "../../../store/port.js";
import type { InstrumentConfiguration, Requirement } from "../../sdk/registry.js";
import { holding } from "../templates/holding.js";
import { instrumentConfiguration } from "../templates/instruments.js";
import { indexKeys } from "../templates/index-keys.js";
import { credential } from "../templates/parties.js";
import { appRewardConfiguration, featuredAppRight, registrarService, transferRule } from "../templates/services.js";

/** What an answer may need, in terms of the rules. */
export interface PrefetchPlan {
  readonly registrar: string;
  /** Ids of the instruments whose configurations are needed. */
  readonly instruments: readonly string[];
  /** Whose credentials are needed, and for which instruments. */
  readonly holders: readonly Holder[];
  /** Contract ids of locked holdings. */
  readonly lockedHoldings: readonly string[];
  readonly transferRule: boolean;
  readonly resultContracts: boolean;
  /** Whether a provider's rewards are needed. */
  readonly rewards: boolean;
  /** The providers that may be meant; empty where the instruments' configurations name them. */
  readonly providers: readonly string[];
}

/** A party that needs credentials for some instruments. */
export interface Holder {
  readonly party: string;
  /** Which of an instrument's requirements apply: to hold it, or to mint and burn it. */
  readonly as: "holder" | "issuer";
  readonly instruments: readonly string[];
}

/** What an instrument asks of a party in that role. */
export function requirementsFor(as: Holder["as"], configuration: InstrumentConfiguration): readonly Requirement[] {
  return as === "holder" ? configuration.holderRequirements : configuration.issuerRequirements;
}

/**
 * Says what the rules will look for, in two round trips: which credentials and
 * rewards that is, only the configurations tell. Not to be called where everything
 * is at hand: the rules look for one contract after the other.
 */
export function prefetch(view: View, plan: PrefetchPlan): void {
  view.prefetch(() => known(plan));
  view.prefetch(() => told(view, plan));
}

function* known({ registrar, ...wanted }: PrefetchPlan): Generator<ContractLookup> {
  for (const id of wanted.instruments)
    yield { template: instrumentConfiguration, indexKey: indexKeys.instrument(registrar, id) };
  for (const contractId of wanted.lockedHoldings) yield { template: holding, contractId };
  if (wanted.transferRule) yield { template: transferRule, indexKey: indexKeys.transferRule(registrar) };
  if (wanted.resultContracts) yield { template: registrarService, indexKey: indexKeys.service(registrar) };
}

/** What some candidate for the configuration of an instrument names. */
function* told(
  view: View,
  { registrar, instruments, holders, rewards, providers }: PrefetchPlan,
): Generator<ContractLookup> {
  const configurationsOf = (id: string) => view.byKey(instrumentConfiguration, indexKeys.instrument(registrar, id));
  const issuers = holders.flatMap(({ party, as, instruments: held }) =>
    held
      .flatMap((id) => configurationsOf(id))
      .flatMap(({ fields }) => requirementsFor(as, fields))
      .map(({ issuer }) => indexKeys.credential(party, issuer)),
  );
  for (const indexKey of new Set(issuers)) yield { template: credential, indexKey };
  if (!rewards) return;
  const named = instruments.flatMap((id) => configurationsOf(id)).map(({ fields }) => fields.provider);
  for (const provider of new Set(providers.length > 0 ? providers : named)) {
    yield { template: appRewardConfiguration, indexKey: indexKeys.appReward(provider) };
    yield { template: featuredAppRight, indexKey: indexKeys.featuredAppRight(provider) };
  }
}
