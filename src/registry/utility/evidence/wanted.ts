import type { Question, View } from "../../../store/store.js";
import type { InstrumentConfiguration, Requirement } from "../../registry.js";
import { holding } from "../kinds/holding.js";
import { instrumentConfiguration } from "../kinds/instruments.js";
import { keys } from "../kinds/keys.js";
import { credential } from "../kinds/parties.js";
import { appRewardConfiguration, featuredAppRight, registrarService, transferRule } from "../kinds/services.js";

/** What an answer may need, in terms of the rules. */
export interface Wanted {
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
export function foresee(view: View, wanted: Wanted): void {
  view.foresee(() => known(wanted));
  view.foresee(() => told(view, wanted));
}

function* known({ registrar, ...wanted }: Wanted): Generator<Question> {
  for (const id of wanted.instruments) yield { kind: instrumentConfiguration, key: keys.instrument(registrar, id) };
  for (const contractId of wanted.lockedHoldings) yield { kind: holding, contractId };
  if (wanted.transferRule) yield { kind: transferRule, key: keys.transferRule(registrar) };
  if (wanted.resultContracts) yield { kind: registrarService, key: keys.service(registrar) };
}

/** What some candidate for the configuration of an instrument names. */
function* told(view: View, { registrar, instruments, holders, rewards, providers }: Wanted): Generator<Question> {
  const configurationsOf = (id: string) => view.byKey(instrumentConfiguration, keys.instrument(registrar, id));
  const issuers = holders.flatMap(({ party, as, instruments: held }) =>
    held
      .flatMap((id) => configurationsOf(id))
      .flatMap(({ facts }) => requirementsFor(as, facts))
      .map(({ issuer }) => keys.credential(party, issuer)),
  );
  for (const key of new Set(issuers)) yield { kind: credential, key };
  if (!rewards) return;
  const named = instruments.flatMap((id) => configurationsOf(id)).map(({ facts }) => facts.provider);
  for (const provider of new Set(providers.length > 0 ? providers : named)) {
    yield { kind: appRewardConfiguration, key: keys.appReward(provider) };
    yield { kind: featuredAppRight, key: keys.featuredAppRight(provider) };
  }
}
