import type { Contract, View } from "../../../store/store.js";
import { ask } from "../../ask.js";
import type { InstrumentConfiguration, Requirement } from "../../registry.js";
import { holding } from "../kinds/holding.js";
import { instrumentConfiguration } from "../kinds/instruments.js";
import { keys } from "../kinds/keys.js";
import { type Credential, credential } from "../kinds/parties.js";
import {
  type AppRewardConfiguration,
  appRewardConfiguration,
  type FeaturedAppRight,
  featuredAppRight,
  type RegistrarService,
  registrarService,
  type TransferRule,
  transferRule,
} from "../kinds/services.js";

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

/** Every candidate for what was wanted, newest first, wherever it is. */
export interface Evidence {
  /** By instrument id. */
  readonly configurations: ReadonlyMap<string, readonly Contract<InstrumentConfiguration>[]>;
  /** By the key of holder and issuer. */
  readonly credentials: ReadonlyMap<string, readonly Contract<Credential>[]>;
  /** By contract id. */
  readonly lockedHoldings: ReadonlyMap<string, readonly Contract<null>[]>;
  readonly transferRules: readonly Contract<TransferRule>[];
  readonly services: readonly Contract<RegistrarService>[];
  /** By provider. */
  readonly rewards: ReadonlyMap<string, readonly Contract<AppRewardConfiguration>[]>;
  /** By provider. */
  readonly rights: ReadonlyMap<string, readonly Contract<FeaturedAppRight>[]>;
}

/** What an instrument asks of a party in that role. */
export function requirementsFor(as: Holder["as"], configuration: InstrumentConfiguration): readonly Requirement[] {
  return as === "holder" ? configuration.holderRequirements : configuration.issuerRequirements;
}

/**
 * Reads all that is wanted in two round trips: which credentials and rewards to
 * look for is known only from the configurations. Plain loops, since every
 * request passes here.
 */
export async function gather(view: View, wanted: Wanted): Promise<Evidence> {
  const { registrar, instruments, lockedHoldings } = wanted;
  const first = await ask(view, {
    configurations: instruments.map((id) => ({ kind: instrumentConfiguration, key: keys.instrument(registrar, id) })),
    lockedHoldings: lockedHoldings.map((contractId) => ({ kind: holding, contractId })),
    transferRules: wanted.transferRule ? [{ kind: transferRule, key: keys.transferRule(registrar) }] : [],
    services: wanted.resultContracts ? [{ kind: registrarService, key: keys.service(registrar) }] : [],
  });
  const configurations = byName(instruments, first.configurations);
  const providers = wanted.rewards ? providersOf(wanted, first.configurations) : [];
  const sought = credentialKeys(wanted.holders, configurations);
  const second =
    providers.length + sought.length === 0
      ? undefined
      : await ask(view, {
          credentials: sought.map((credentialKey) => ({ kind: credential, key: credentialKey })),
          rewards: providers.map((provider) => ({ kind: appRewardConfiguration, key: keys.appReward(provider) })),
          rights: providers.map((provider) => ({ kind: featuredAppRight, key: keys.featuredAppRight(provider) })),
        });
  return {
    configurations,
    lockedHoldings: byName(lockedHoldings, first.lockedHoldings),
    transferRules: first.transferRules[0] ?? [],
    services: first.services[0] ?? [],
    credentials: byName(sought, second?.credentials ?? []),
    rewards: byName(providers, second?.rewards ?? []),
    rights: byName(providers, second?.rights ?? []),
  };
}

function providersOf(
  { providers }: Wanted,
  configurations: readonly (readonly Contract<InstrumentConfiguration>[])[],
): readonly string[] {
  if (providers.length === 1) return providers;
  return [...new Set(providers.length > 0 ? providers : configurations.flat().map(({ facts }) => facts.provider))];
}

/** The keys for each party with each issuer that some candidate for its instruments' configuration asks for. */
function credentialKeys(holders: readonly Holder[], configurations: Evidence["configurations"]): string[] {
  const sought = new Set<string>();
  for (const { party, as, instruments } of holders) {
    for (const id of instruments) {
      for (const { facts } of configurations.get(id) ?? []) {
        for (const { issuer } of requirementsFor(as, facts)) sought.add(keys.credential(party, issuer));
      }
    }
  }
  return [...sought];
}

function byName<T>(names: readonly string[], lists: readonly (readonly T[])[]): Map<string, readonly T[]> {
  const map = new Map<string, readonly T[]>();
  for (let index = 0; index < names.length; index++) map.set(names[index] ?? "", lists[index] ?? []);
  return map;
}
