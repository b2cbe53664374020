import type { Contract } from "../../../domain/contract.js";
import type { ContractLookup, View } from "../../../store/port.js";
import type { InstrumentConfiguration } from "../../sdk/registry.js";
import { indexKeys } from "../templates/index-keys.js";
import { instrumentConfiguration } from "../templates/instruments.js";
import { activeOn, isInReassignment, missingOn, notOnSynchronizer } from "./candidates.js";

/** What the contracts of one answer are selected for. */
export interface SelectionContext {
  readonly view: View;
  readonly registrar: string;
  /** All contracts of the answer have to be on this synchronizer. */
  readonly synchronizer: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /**
   * Whether a missing contract is left out instead of failing the request: true for reject, withdraw and cancel,
   * which must always be possible.
   */
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

  /** The newest candidate on the synchronizer of the answer. */
  newest<F>(candidates: readonly Contract<F>[]): Contract<F> | undefined {
    return activeOn(candidates, this.synchronizer);
  }

  /**
   * Call it if the choice requires a contract and no candidate is on the synchronizer. Throws "not-found" without
   * candidates, "conflict" with some elsewhere; returns undefined if `allowMissing`. `name` is for the message.
   */
  requiredMissing(candidates: readonly Contract[], name: string): undefined {
    if (!this.allowMissing) missingOn(candidates, this.synchronizer, name);
  }

  /**
   * The same for a contract that the choice can do without. Throws "conflict" only for a candidate in reassignment:
   * an answer must not depend on the moment of the request.
   */
  optionalMissing(candidates: readonly Contract[], name: string): undefined {
    const reassigned = this.allowMissing ? undefined : candidates.find(isInReassignment);
    if (reassigned !== undefined) throw notOnSynchronizer(reassigned, this.synchronizer, name);
  }
}

/** The lookup that `ContractSelector.configuration` makes. */
export const instrumentConfigurationLookup = (registrar: string, instrument: string): ContractLookup => ({
  template: instrumentConfiguration,
  indexKey: indexKeys.instrument(registrar, instrument),
});
