import type { Contract } from "../../../store/store.js";
import { conflict, notFound } from "../../errors.js";
import type { InstrumentConfiguration, Requirement } from "../../registry.js";
import type { Credential } from "../kinds/parties.js";
import type { AppRewardConfiguration, FeaturedAppRight, TransferRule } from "../kinds/services.js";
import { activeOn, elsewhere, isMoving, requiredOn } from "./candidates.js";
import { chooseCredentials } from "./credentials.js";
import { keys } from "../kinds/keys.js";
import { type Evidence, type Holder, requirementsFor } from "./evidence.js";

/** Where and when an answer is put together, and of what. */
export interface Setting {
  readonly evidence: Evidence;
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

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  get lenient(): boolean {
    return this.#setting.lenient;
  }

  /** Undefined only when lenient. */
  configuration(instrument: string): Contract<InstrumentConfiguration> | undefined {
    const { evidence, registrar } = this.#setting;
    const candidates = evidence.configurations.get(instrument) ?? [];
    return this.#needed(
      candidates,
      `the InstrumentConfiguration of instrument "${instrument}" of registrar ${registrar}`,
    );
  }

  /** Undefined only when lenient. */
  transferRule(): Contract<TransferRule> | undefined {
    const { evidence, registrar } = this.#setting;
    return this.#needed(evidence.transferRules, `the TransferRule of registrar ${registrar}`);
  }

  /** Undefined only when lenient: a holding that is gone already stands in nobody's way out. */
  lockedHolding(contractId: string): Contract<null> | undefined {
    const candidates = this.#setting.evidence.lockedHoldings.get(contractId) ?? [];
    return this.#needed(candidates, `the locked holding ${contractId}`);
  }

  reward(provider: string): Contract<AppRewardConfiguration> | undefined {
    const candidates = this.#setting.evidence.rewards.get(provider) ?? [];
    return this.#optional(candidates, `the AppRewardConfiguration of provider ${provider}`);
  }

  /**
   * The right of the party that the reward configuration names, where there is
   * one, be it on another synchronizer: anybody can create a right that names
   * the provider.
   */
  right(provider: string): Contract<FeaturedAppRight> | undefined {
    const rewards = this.#setting.evidence.rewards.get(provider) ?? [];
    const dso = (activeOn(rewards, this.#setting.synchronizer) ?? rewards[0])?.facts.dso;
    const candidates = this.#setting.evidence.rights.get(provider) ?? [];
    return this.#optional(
      candidates.filter(({ facts }) => dso === undefined || facts.dso === dso),
      `the FeaturedAppRight of provider ${provider}`,
    );
  }

  /**
   * Whether the registrar's service asks for result contracts; undefined where
   * it does not say. The service is read, never disclosed, so one that is on
   * another synchronizer or between two speaks as well where none is here.
   */
  resultContracts(): boolean | undefined {
    const { evidence, synchronizer } = this.#setting;
    const service = activeOn(evidence.services, synchronizer) ?? evidence.services[0];
    return service?.facts.enableResultContracts;
  }

  /** The credentials by which a party meets what its instruments ask of it. */
  credentials({ party, as, instruments }: Holder): readonly Contract<Credential>[] {
    const { evidence, synchronizer, now } = this.#setting;
    const requirements: Requirement[] = [];
    for (const id of instruments) {
      const configuration = this.configuration(id);
      if (configuration !== undefined) requirements.push(...requirementsFor(as, configuration.facts));
    }
    if (requirements.length === 0) return [];
    const held: Contract<Credential>[] = [];
    for (const issuer of new Set(requirements.map((requirement) => requirement.issuer))) {
      held.push(...(evidence.credentials.get(keys.credential(party, issuer)) ?? []));
    }
    const here = held.filter(({ synchronizerId }) => synchronizerId === synchronizer);
    const choice = chooseCredentials(party, requirements, here, now);
    if (choice.met) return choice.chosen;
    const claims = choice.lacking.map(({ property, value }) => `${property} = ${value}`).join(", ");
    const name = `a valid credential for ${party} from issuer ${choice.issuer} with the claim ${claims}`;
    const anywhere = chooseCredentials(party, requirements, held, now);
    if (!anywhere.met) throw notFound(`${name} does not exist`);
    const other = anywhere.chosen.find(({ synchronizerId }) => synchronizerId !== synchronizer);
    throw other === undefined ? conflict(name) : elsewhere(other, synchronizer, name);
  }

  #needed<F>(candidates: readonly Contract<F>[], name: string): Contract<F> | undefined {
    const { synchronizer, lenient } = this.#setting;
    return lenient ? activeOn(candidates, synchronizer) : requiredOn(candidates, synchronizer, name);
  }

  /**
   * What an answer can do without. One that is between synchronizers is waited
   * for all the same, or a caller would lose what it stands for by chance; one
   * that lives on another synchronizer cannot be used here at all.
   */
  #optional<F>(candidates: readonly Contract<F>[], name: string): Contract<F> | undefined {
    const { synchronizer, lenient } = this.#setting;
    const found = activeOn(candidates, synchronizer);
    const moving = candidates.find(isMoving);
    if (found === undefined && moving !== undefined && !lenient) throw elsewhere(moving, synchronizer, name);
    return found;
  }
}
