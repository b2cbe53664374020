import type { Contract, View } from "../../../store/store.js";
import { conflict, notFound } from "../../errors.js";
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
  registrarService,
  type TransferRule,
  transferRule,
} from "../kinds/services.js";
import { activeOn, elsewhere, isMoving, requiredOn } from "./candidates.js";
import { chooseCredentials } from "./credentials.js";
import { type Holder, requirementsFor } from "./wanted.js";

/** Where and when an answer is put together. */
export interface Setting {
  readonly view: View;
  readonly registrar: string;
  readonly synchronizer: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /**
   * True for the choices that let a party out (reject, withdraw, cancel): what
   * is not on this synchronizer is left out instead of ending the request.
   */
  readonly lenient: boolean;
}

/**
 * Chooses, on one synchronizer, the contracts that an answer needs. What has to
 * be there is thrown as not-found or conflict where it is not.
 */
export class Site {
  readonly #setting: Setting;
  /** What was looked for last: an answer speaks of the same instrument again and again. */
  #instrument: string | undefined;
  #configuration: Contract<InstrumentConfiguration> | undefined;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  /** Undefined only when lenient. */
  configuration(instrument: string): Contract<InstrumentConfiguration> | undefined {
    if (instrument === this.#instrument) return this.#configuration;
    const { view, registrar } = this.#setting;
    this.#configuration = this.#needed(
      view.byKey(instrumentConfiguration, keys.instrument(registrar, instrument)),
      () => `the InstrumentConfiguration of instrument "${instrument}" of registrar ${registrar}`,
    );
    this.#instrument = instrument;
    return this.#configuration;
  }

  /** Undefined only when lenient. */
  transferRule(): Contract<TransferRule> | undefined {
    const { view, registrar } = this.#setting;
    return this.#needed(
      view.byKey(transferRule, keys.transferRule(registrar)),
      () => `the TransferRule of registrar ${registrar}`,
    );
  }

  /** Undefined only when lenient: a holding that is gone already stands in nobody's way out. */
  lockedHolding(contractId: string): Contract<null> | undefined {
    const { view, synchronizer } = this.#setting;
    const found = view.byId(holding, contractId);
    if (found?.synchronizerId === synchronizer) return found;
    return this.#needed(found === undefined ? [] : [found], () => `the locked holding ${contractId}`);
  }

  reward(provider: string): Contract<AppRewardConfiguration> | undefined {
    return this.#optional(this.#rewards(provider), () => `the AppRewardConfiguration of provider ${provider}`);
  }

  /**
   * The right of the party that the reward configuration names, where there is
   * one, be it on another synchronizer: anybody can create a right that names
   * the provider.
   */
  right(provider: string): Contract<FeaturedAppRight> | undefined {
    const { view, synchronizer } = this.#setting;
    const rights = view.byKey(featuredAppRight, keys.featuredAppRight(provider));
    if (rights.length === 0) return undefined;
    const rewards = this.#rewards(provider);
    const dso = (activeOn(rewards, synchronizer) ?? rewards[0])?.facts.dso;
    const candidates = dso === undefined ? rights : rights.filter(({ facts }) => facts.dso === dso);
    return this.#optional(candidates, () => `the FeaturedAppRight of provider ${provider}`);
  }

  /**
   * Whether the registrar's service asks for result contracts; undefined where
   * it does not say. The service is read, never disclosed, so one that is on
   * another synchronizer or between two speaks as well where none is here.
   */
  resultContracts(): boolean | undefined {
    const { view, registrar, synchronizer } = this.#setting;
    const services = view.byKey(registrarService, keys.service(registrar));
    return (activeOn(services, synchronizer) ?? services[0])?.facts.enableResultContracts;
  }

  /** The credentials by which a party meets what its instruments ask of it. */
  credentials({ party, as, instruments }: Holder): readonly Contract<Credential>[] {
    const requirements = this.#requirements(as, instruments);
    if (requirements.length === 0) return [];
    const { synchronizer, now } = this.#setting;
    const held = this.#held(party, requirements);
    const isAllHere = held.every(({ synchronizerId }) => synchronizerId === synchronizer);
    const here = isAllHere ? held : held.filter(({ synchronizerId }) => synchronizerId === synchronizer);
    const choice = chooseCredentials(party, requirements, here, now);
    if (choice.met) return choice.chosen;
    const claims = choice.lacking.map(({ property, value }) => `${property} = ${value}`).join(", ");
    const name = `a valid credential for ${party} from issuer ${choice.issuer} with the claim ${claims}`;
    const anywhere = chooseCredentials(party, requirements, held, now);
    if (!anywhere.met) throw notFound(`${name} does not exist`);
    const other = anywhere.chosen.find(({ synchronizerId }) => synchronizerId !== synchronizer);
    throw other === undefined ? conflict(name) : elsewhere(other, synchronizer, name);
  }

  #requirements(as: Holder["as"], instruments: readonly string[]): readonly Requirement[] {
    const [only, second] = instruments;
    if (only !== undefined && second === undefined) {
      const configuration = this.configuration(only);
      return configuration === undefined ? [] : requirementsFor(as, configuration.facts);
    }
    return instruments.flatMap((id) => {
      const configuration = this.configuration(id);
      return configuration === undefined ? [] : requirementsFor(as, configuration.facts);
    });
  }

  /** What the party holds of the issuers that are asked for, wherever it is. */
  #held(party: string, requirements: readonly Requirement[]): readonly Contract<Credential>[] {
    const { view } = this.#setting;
    const [only, second] = requirements;
    if (only !== undefined && second === undefined) return view.byKey(credential, keys.credential(party, only.issuer));
    const asked: string[] = [];
    const held: Contract<Credential>[] = [];
    for (const { issuer } of requirements) {
      if (asked.includes(issuer)) continue;
      asked.push(issuer);
      for (const one of view.byKey(credential, keys.credential(party, issuer))) held.push(one);
    }
    return held;
  }

  #rewards(provider: string): readonly Contract<AppRewardConfiguration>[] {
    return this.#setting.view.byKey(appRewardConfiguration, keys.appReward(provider));
  }

  #needed<F>(candidates: readonly Contract<F>[], name: () => string): Contract<F> | undefined {
    const { synchronizer, lenient } = this.#setting;
    return lenient ? activeOn(candidates, synchronizer) : requiredOn(candidates, synchronizer, name);
  }

  /**
   * What an answer can do without. One that is between synchronizers is waited
   * for all the same, or a caller would lose what it stands for by chance; one
   * that lives on another synchronizer cannot be used here at all.
   */
  #optional<F>(candidates: readonly Contract<F>[], name: () => string): Contract<F> | undefined {
    const { synchronizer, lenient } = this.#setting;
    const found = activeOn(candidates, synchronizer);
    if (found !== undefined || lenient) return found;
    const moving = candidates.find(isMoving);
    if (moving !== undefined) throw elsewhere(moving, synchronizer, name());
    return undefined;
  }
}
