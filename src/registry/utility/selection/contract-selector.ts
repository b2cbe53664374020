import type { Contract } from "../../../domain/contract.js";
import type { View } from "../../../store/port.js";
import { conflict, notFound } from "../../../domain/errors.js";
import type { InstrumentConfiguration, Requirement } from "../../sdk/registry.js";
import { holding } from "../templates/holding.js";
import { instrumentConfiguration } from "../templates/instruments.js";
import { indexKeys } from "../templates/index-keys.js";
import { type Credential, credential } from "../templates/parties.js";
import {
  type AppRewardConfiguration,
  appRewardConfiguration,
  type FeaturedAppRight,
  featuredAppRight,
  registrarService,
  type TransferRule,
  transferRule,
} from "../templates/services.js";
import { activeOn, notOnSynchronizer, isInReassignment, missingOn } from "./candidates.js";
import { chooseCredentials, indexOfIssuer } from "./credentials.js";
import { type Holder, requirementsFor } from "../entries/prefetch-plan.js";

/** Where and when an answer is put together. */
export interface SelectionContext {
  readonly view: View;
  readonly registrar: string;
  readonly synchronizer: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /**
   * True for the choices that let a party out (reject, withdraw, cancel): what
   * is not on this synchronizer is left out instead of ending the request.
   */
  readonly allowMissing: boolean;
}

/**
 * Chooses, on one synchronizer, the contracts that an answer needs. What has to
 * be there is thrown as not-found or conflict where it is not.
 */
export class ContractSelector {
  readonly #context: SelectionContext;
  /** What was looked for last: an answer speaks of the same instrument again and again. */
  #instrument: string | undefined;
  #configuration: Contract<InstrumentConfiguration> | undefined;

  constructor(context: SelectionContext) {
    this.#context = context;
  }

  /** Undefined only when lenient. */
  configuration(instrument: string): Contract<InstrumentConfiguration> | undefined {
    if (instrument === this.#instrument) return this.#configuration;
    const { view, registrar, synchronizer } = this.#context;
    const candidates = view.byKey(instrumentConfiguration, indexKeys.instrument(registrar, instrument));
    this.#configuration =
      activeOn(candidates, synchronizer) ??
      this.#missing(candidates, `the InstrumentConfiguration of instrument "${instrument}" of registrar ${registrar}`);
    this.#instrument = instrument;
    return this.#configuration;
  }

  /** Undefined only when lenient. */
  transferRule(): Contract<TransferRule> | undefined {
    const { view, registrar, synchronizer } = this.#context;
    const candidates = view.byKey(transferRule, indexKeys.transferRule(registrar));
    return (
      activeOn(candidates, synchronizer) ?? this.#missing(candidates, `the TransferRule of registrar ${registrar}`)
    );
  }

  /** Undefined only when lenient: a holding that is gone already stands in nobody's way out. */
  lockedHolding(contractId: string): Contract<null> | undefined {
    const { view, synchronizer } = this.#context;
    const found = view.byId(holding, contractId);
    if (found?.synchronizerId === synchronizer) return found;
    return this.#missing(found === undefined ? [] : [found], `the locked holding ${contractId}`);
  }

  appRewardConfiguration(provider: string): Contract<AppRewardConfiguration> | undefined {
    const candidates = this.#rewards(provider);
    const found = activeOn(candidates, this.#context.synchronizer);
    return found ?? this.#without(candidates, `the AppRewardConfiguration of provider ${provider}`);
  }

  /**
   * The right of the party that the reward configuration names, where there is
   * one, be it on another synchronizer: anybody can create a right that names
   * the provider.
   */
  featuredAppRight(provider: string): Contract<FeaturedAppRight> | undefined {
    const { view, synchronizer } = this.#context;
    const rights = view.byKey(featuredAppRight, indexKeys.featuredAppRight(provider));
    if (rights.length === 0) return undefined;
    const rewards = this.#rewards(provider);
    const dso = (activeOn(rewards, synchronizer) ?? rewards[0])?.fields.dso;
    const candidates = ofDso(rights, dso);
    const found = activeOn(candidates, synchronizer);
    return found ?? this.#without(candidates, `the FeaturedAppRight of provider ${provider}`);
  }

  /**
   * Whether the registrar's service asks for result contracts; undefined where
   * it does not say. The service is read, never disclosed, so one that is on
   * another synchronizer or between two speaks as well where none is here.
   */
  enableResultContracts(): boolean | undefined {
    const { view, registrar, synchronizer } = this.#context;
    const services = view.byKey(registrarService, indexKeys.service(registrar));
    return (activeOn(services, synchronizer) ?? services[0])?.fields.enableResultContracts;
  }

  /** The credentials by which a party meets what its instruments ask of it. */
  credentials(party: string, as: Holder["as"], instruments: readonly string[]): readonly Contract<Credential>[] {
    const requirements = this.#requirements(as, instruments);
    if (requirements.length === 0) return [];
    const { synchronizer, now } = this.#context;
    const held = this.#held(party, requirements);
    const choice = chooseCredentials(party, requirements, allOn(held, synchronizer), now);
    if (choice.met) return choice.chosen;
    const claims = choice.lacking.map(({ property, value }) => `${property} = ${value}`).join(", ");
    const name = `a valid credential for ${party} from issuer ${choice.issuer} with the claim ${claims}`;
    const anywhere = chooseCredentials(party, requirements, held, now);
    if (!anywhere.met) throw notFound(`${name} does not exist`);
    const other = anywhere.chosen.find(({ synchronizerId }) => synchronizerId !== synchronizer);
    throw other === undefined ? conflict(name) : notOnSynchronizer(other, synchronizer, name);
  }

  #requirements(as: Holder["as"], instruments: readonly string[]): readonly Requirement[] {
    const [only, second] = instruments;
    if (only !== undefined && second === undefined) {
      const configuration = this.configuration(only);
      return configuration === undefined ? [] : requirementsFor(as, configuration.fields);
    }
    return instruments.flatMap((id) => {
      const configuration = this.configuration(id);
      return configuration === undefined ? [] : requirementsFor(as, configuration.fields);
    });
  }

  /** What the party holds of the issuers that are asked for, wherever it is. */
  #held(party: string, requirements: readonly Requirement[]): readonly Contract<Credential>[] {
    const { view } = this.#context;
    const [only, second] = requirements;
    if (only !== undefined && second === undefined)
      return view.byKey(credential, indexKeys.credential(party, only.issuer));
    const held: Contract<Credential>[] = [];
    for (const [at, { issuer }] of requirements.entries()) {
      if (indexOfIssuer(issuer, requirements) < at) continue;
      for (const one of view.byKey(credential, indexKeys.credential(party, issuer))) held.push(one);
    }
    return held;
  }

  #rewards(provider: string): readonly Contract<AppRewardConfiguration>[] {
    return this.#context.view.byKey(appRewardConfiguration, indexKeys.appReward(provider));
  }

  /** What an answer needs, and is not here. */
  #missing(candidates: readonly Contract[], name: string): undefined {
    const { synchronizer, allowMissing } = this.#context;
    if (!allowMissing) missingOn(candidates, synchronizer, name);
  }

  /**
   * What an answer can do without, and is not here. One that is between
   * synchronizers is waited for all the same, or a caller would lose what it stands
   * for by chance; one that lives on another synchronizer cannot be used here at all.
   */
  #without(candidates: readonly Contract[], name: string): undefined {
    const { synchronizer, allowMissing } = this.#context;
    const moving = allowMissing ? undefined : candidates.find(isInReassignment);
    if (moving !== undefined) throw notOnSynchronizer(moving, synchronizer, name);
  }
}

// Nearly always these have all that they are given: then they make no list of their own.

function allOn<F>(contracts: readonly Contract<F>[], synchronizer: string): readonly Contract<F>[] {
  for (const contract of contracts) {
    if (contract.synchronizerId !== synchronizer) return contracts.filter((one) => one.synchronizerId === synchronizer);
  }
  return contracts;
}

function ofDso(
  rights: readonly Contract<FeaturedAppRight>[],
  dso: string | undefined,
): readonly Contract<FeaturedAppRight>[] {
  if (dso === undefined) return rights;
  for (const right of rights) if (right.fields.dso !== dso) return rights.filter(({ fields }) => fields.dso === dso);
  return rights;
}
