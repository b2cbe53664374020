import type { Contract } from "../../../domain/contract.js";
import { invalid, type RegistryError } from "../../../domain/errors.js";
import type { ContractLookup, View } from "../../../store/port.js";
import type { InstrumentConfiguration, RequestContext } from "../../sdk/registry.js";
import { indexKeys } from "../templates/index-keys.js";
import { instrumentConfiguration } from "../templates/instruments.js";
import { activeOn, isInReassignment, missingOn, notOnSynchronizer } from "./candidates.js";

/**
 * Selects the contracts of one answer from the candidates in the store. Candidates come newest first, as `view.byKey`
 * returns them, and may be on any synchronizer or in reassignment.
 */
export class ContractSelector {
  readonly context: RequestContext;
  readonly view: View;
  /** The registrar of the request: the admin of its instruments. */
  readonly registrar: string;
  /** All contracts of the answer must be on this synchronizer. */
  readonly synchronizer: string;
  /** The latest result of `configuration`: several entries of an answer need the same one. */
  #instrument: string | undefined;
  #configuration: Contract<InstrumentConfiguration> | undefined;
  /** The first instrument with `checkBlocklist`. */
  #withBlocklist: string | undefined;

  constructor(context: RequestContext, registrar: string, synchronizer: string) {
    this.context = context;
    this.view = context.view;
    this.registrar = registrar;
    this.synchronizer = synchronizer;
  }

  /**
   * The configuration of an instrument of the registrar, by any of its ids. Undefined only if it is missing and not
   * `required`. Throws as `missing` does.
   */
  configuration(instrument: string, required: boolean): Contract<InstrumentConfiguration> | undefined {
    if (instrument === this.#instrument && this.#configuration !== undefined) return this.#configuration;
    const candidates = candidateConfigurations(this.view, this.registrar, instrument);
    const found = this.newest(candidates);
    if (found === undefined) {
      const name = `the InstrumentConfiguration of instrument "${instrument}" of registrar ${this.registrar}`;
      return this.missing(candidates, required, name);
    }
    if (found.fields.checkBlocklist) this.#withBlocklist ??= instrument;
    this.#configuration = found;
    this.#instrument = instrument;
    return found;
  }

  /**
   * Throws "invalid" if a selected configuration has `checkBlocklist`: for operations that disclose no blocklist, whose
   * choice would fail. Call it when the answer is complete: a missing contract is reported first.
   */
  rejectBlocklist(): void {
    if (this.#withBlocklist !== undefined) throw blocklistNeeded(this.#withBlocklist, this.registrar);
  }

  /** The newest of the candidates on the synchronizer of the answer; undefined if none is there. */
  newest<F>(candidates: readonly Contract<F>[]): Contract<F> | undefined {
    return activeOn(candidates, this.synchronizer);
  }

  /**
   * Decides for a contract of which `newest` found none. Throws "conflict" if a candidate is in reassignment; if the
   * contract is `required`, "not-found" without candidates, "conflict" with candidates elsewhere. `name` is for the
   * message.
   */
  missing(candidates: readonly Contract[], required: boolean, name: string): undefined {
    if (required) missingOn(candidates, this.synchronizer, name);
    const reassigned = candidates.find(isInReassignment);
    if (reassigned !== undefined) throw notOnSynchronizer(reassigned, this.synchronizer, name);
  }
}

/** The configurations of an instrument by any of its ids, on any synchronizer, newest first. */
export const candidateConfigurations = (
  view: View,
  registrar: string,
  instrument: string,
): readonly Contract<InstrumentConfiguration>[] =>
  view.byKey(instrumentConfiguration, indexKeys.instrument(registrar, instrument));

export const instrumentConfigurationLookup = (registrar: string, instrument: string): ContractLookup => ({
  template: instrumentConfiguration,
  indexKey: indexKeys.instrument(registrar, instrument),
});

const blocklistNeeded = (instrument: string, registrar: string): RegistryError =>
  invalid(
    `instrument "${instrument}" of registrar ${registrar} has checkBlocklist set, but this service has no blocklist ` +
      "to disclose for this operation, so the choice would fail: the operator can add one in OFFLEDGER_CONTEXTS",
  );
