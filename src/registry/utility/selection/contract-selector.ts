import type { Contract } from "../../../domain/contract.js";
import type { ContractLookup, View } from "../../../store/port.js";
import type { InstrumentConfiguration } from "../../sdk/registry.js";
import { indexKeys } from "../templates/index-keys.js";
import { instrumentConfiguration } from "../templates/instruments.js";
import { activeOn, isInReassignment, missingOn, notOnSynchronizer } from "./candidates.js";

export interface SelectionContext {
  readonly view: View;
  readonly registrar: string;
  /** All contracts of the answer must be on this synchronizer. */
  readonly synchronizer: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Leave out a missing contract instead of failing the request. */
  readonly allowMissing: boolean;
}

/** Selects the contracts of one answer from the candidates in the store. Candidates come newest first. */
export class ContractSelector implements SelectionContext {
  readonly view: View;
  readonly registrar: string;
  readonly synchronizer: string;
  readonly now: number;
  readonly allowMissing: boolean;
  /** The latest result of `configuration`: several entries of an answer need the same one. */
  #instrument: string | undefined;
  #configuration: Contract<InstrumentConfiguration> | undefined;

  constructor({ view, registrar, synchronizer, now, allowMissing }: SelectionContext) {
    this.view = view;
    this.registrar = registrar;
    this.synchronizer = synchronizer;
    this.now = now;
    this.allowMissing = allowMissing;
  }

  /** The configuration of an instrument. Undefined only if `allowMissing`. */
  configuration(instrument: string): Contract<InstrumentConfiguration> | undefined {
    if (instrument === this.#instrument) return this.#configuration;
    const { view, registrar } = this;
    const candidates = view.byKey(instrumentConfiguration, indexKeys.instrument(registrar, instrument));
    this.#configuration =
      this.newest(candidates) ??
      this.requiredMissing(
        candidates,
        `the InstrumentConfiguration of instrument "${instrument}" of registrar ${registrar}`,
      );
    this.#instrument = instrument;
    return this.#configuration;
  }

  newest<F>(candidates: readonly Contract<F>[]): Contract<F> | undefined {
    return activeOn(candidates, this.synchronizer);
  }

  /** Throws if the choice requires the contract, unless `allowMissing`: see `missingOn`. */
  requiredMissing(candidates: readonly Contract[], name: string): undefined {
    if (!this.allowMissing) missingOn(candidates, this.synchronizer, name);
  }

  /** For an optional contract. Throws only for one in reassignment: it must not be left out by chance. */
  optionalMissing(candidates: readonly Contract[], name: string): undefined {
    const reassigned = this.allowMissing ? undefined : candidates.find(isInReassignment);
    if (reassigned !== undefined) throw notOnSynchronizer(reassigned, this.synchronizer, name);
  }
}

export const instrumentConfigurationLookup = (registrar: string, instrument: string): ContractLookup => ({
  template: instrumentConfiguration,
  indexKey: indexKeys.instrument(registrar, instrument),
});
