/** The contracts of one answer: all of one group, on one synchronizer. */
import type { Contract } from "../../domain/contract.js";
import { combineErrors, invalid, type RegistryError } from "../../domain/errors.js";
import type { View } from "../../store/port.js";
import type { Considered, InstrumentConfiguration, RequestContext } from "../sdk/registry.js";
import { activeOn, isInReassignment, missing, type Needed, neededContract, notOnSynchronizer } from "../needed.js";
import { candidateConfigurations, type Group, namingGroup, ofGroup, otherGroups, type Parties } from "./group.js";
import { instrumentConfiguration } from "./templates.js";

export interface SelectorOptions {
  /** What is not required is left out, also where it is elsewhere or in reassignment. Default false. */
  readonly allowsMissing?: boolean;
}

/**
 * Selects the contracts of one answer from the candidates in the store. Candidates come newest first, as `view.byKey`
 * returns them, and may be on any synchronizer or in reassignment.
 */
export class ContractSelector {
  readonly context: RequestContext;
  readonly view: View;
  /** All contracts of the answer that name an operator and a provider name these. */
  readonly group: Group;
  /** All contracts of the answer must be on this synchronizer. */
  readonly synchronizer: string;
  readonly allowsMissing: boolean;
  /** The latest result of `configuration`: several entries of an answer need the same one. */
  #instrument: string | undefined;
  #configuration: Contract<InstrumentConfiguration> | undefined;
  /** The instruments with `checkBlocklist`. */
  #withBlocklist: Set<string> | undefined;
  /** Why the answer cannot be given. All are collected, so that the message names all. */
  #failures: RegistryError[] | undefined;

  constructor(
    context: RequestContext,
    group: Group,
    synchronizer: string,
    { allowsMissing = false }: SelectorOptions = {},
  ) {
    this.context = context;
    this.view = context.view;
    this.group = group;
    this.synchronizer = synchronizer;
    this.allowsMissing = allowsMissing;
  }

  /** The registrar of the request: the admin of its instruments. */
  get registrar(): string {
    return this.group.registrar;
  }

  /**
   * The group's configuration of an instrument of the registrar, by its default identifier. If it is missing, as
   * `missing`; one that is elsewhere is returned where the answer fails anyway, because it tells what else is missing.
   */
  configuration(instrument: string, required: boolean): Contract<InstrumentConfiguration> | undefined {
    if (instrument === this.#instrument && this.#configuration !== undefined) return this.#configuration;
    const all = candidateConfigurations(this.view, this.registrar, instrument);
    const selected = this.selectOfGroup(all, required, {
      name: `the InstrumentConfiguration of instrument "${instrument}" of registrar ${this.registrar}`,
      kind: "configuration",
      registrar: this.registrar,
      instrument,
      template: instrumentConfiguration.qualifiedName,
    });
    const found = selected ?? (this.#failures === undefined ? undefined : ofGroup(all, this.group)[0]);
    if (found === undefined) return undefined;
    if (found.fields.checkBlocklist) (this.#withBlocklist ??= new Set()).add(instrument);
    this.#configuration = found;
    this.#instrument = instrument;
    return found;
  }

  /**
   * Throws "invalid" that names all instruments whose selected configuration has `checkBlocklist`: for operations that
   * disclose no blocklist, whose choice would fail. Call it when the answer is complete: a missing contract is reported
   * first.
   */
  rejectBlocklist(): void {
    if (this.#withBlocklist === undefined) return;
    const [first, ...others] = this.#blocklistsNeeded();
    if (first !== undefined) throw combineErrors(first, others);
  }

  /** The limit of instruments of a request bounds them. */
  #blocklistsNeeded(): RegistryError[] {
    return Array.from(this.#withBlocklist ?? [], (instrument) => blocklistNeeded(instrument, this.registrar));
  }

  /** The answer cannot be given. The first error decides the status. */
  fail(error: RegistryError): void {
    (this.#failures ??= []).push(error);
  }

  /** Throws one error for all failures. `needsBlocklist`: whether a missing blocklist is one of them. */
  throwFailures(needsBlocklist: boolean): void {
    if (this.#failures === undefined) return;
    const [first, ...others] = this.#failures;
    if (needsBlocklist) others.push(...this.#blocklistsNeeded());
    if (first !== undefined) throw combineErrors(first, others);
  }

  /** The newest of the candidates on the synchronizer of the answer; undefined if none is there. */
  newest<F>(candidates: readonly Contract<F>[]): Contract<F> | undefined {
    return activeOn(candidates, this.synchronizer);
  }

  /** As `select`, among the candidates of the group. */
  selectOfGroup<F extends Parties>(
    all: readonly Contract<F>[],
    required: boolean,
    needed: Needed,
  ): Contract<F> | undefined {
    const candidates = ofGroup(all, this.group);
    const isExplained = this.context.recorder !== undefined && candidates !== all;
    const considered = isExplained ? otherGroups(all, this.group) : undefined;
    return this.select(
      candidates,
      required,
      () => ({ ...needed, name: `${needed.name}${namingGroup(all, this.group)}` }),
      considered,
    );
  }

  /**
   * The newest of the candidates on the synchronizer of the answer. Without one, as `missing`. `considered`: what to
   * record in place of the candidates.
   */
  select<F>(
    candidates: readonly Contract<F>[],
    required: boolean,
    needed: () => Needed,
    considered?: Considered,
  ): Contract<F> | undefined {
    const chosen = this.newest(candidates);
    this.context.recorder?.search({ needed: needed(), candidates, ...considered, chosen, required });
    return chosen ?? this.missing(candidates, required, needed);
  }

  /**
   * Decides for a contract of which `newest` found none. The answer fails with "conflict" if a candidate is in
   * reassignment; if the contract is `required`, with "not-found" without candidates, with "conflict" for candidates
   * elsewhere. It fails when it is complete, so that the message names all that is missing. `needed` is what the message
   * calls the contract.
   */
  missing(candidates: readonly Contract[], required: boolean, needed: string | (() => Needed)): undefined {
    if (!required && this.allowsMissing) return;
    const elsewhere = candidates.find(isInReassignment) ?? (required ? candidates[0] : undefined);
    if (elsewhere === undefined && !required) return;
    const described = typeof needed === "string" ? neededContract(needed) : needed();
    this.fail(
      elsewhere === undefined ? missing(described) : notOnSynchronizer(elsewhere, this.synchronizer, described),
    );
  }
}

const blocklistNeeded = (instrument: string, registrar: string): RegistryError =>
  invalid(
    `instrument "${instrument}" of registrar ${registrar} has checkBlocklist set, but this service has no blocklist ` +
      "to disclose for this operation, so the choice would fail: the operator can add one in OFFLEDGER_CONTEXTS",
    { code: "blocklist-not-configured", about: { registrar, instrument } },
  );
