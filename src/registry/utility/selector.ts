/** The contracts of one answer of the Registry Utility. */
import type { Contract } from "../../domain/contract.js";
import { invalid, type RegistryError } from "../../domain/errors.js";
import type { EntryInputs } from "../engine/answer.js";
import { ContractSelector, type Group, ofGroup, type SelectorOptions } from "../engine/selector.js";
import type { InstrumentConfiguration, RequestContext } from "../sdk/registry.js";
import { candidateConfigurations } from "./group.js";
import { instrumentConfiguration } from "./templates.js";

export interface UtilitySelectorOptions extends SelectorOptions {
  /** Whether an instrument with `checkBlocklist` is refused: the choice would fail, and no line discloses a blocklist. */
  readonly refusesBlocklist?: boolean;
}

export class UtilitySelector extends ContractSelector {
  readonly #refusesBlocklist: boolean;
  /** The latest result of `configuration`: several entries of an answer need the same one. */
  #instrument: string | undefined;
  #configuration: Contract<InstrumentConfiguration> | undefined;
  /** The instruments with `checkBlocklist`. The limit of instruments of a request bounds them. */
  readonly #withBlocklist = new Set<string>();

  constructor(
    context: RequestContext,
    group: Group,
    synchronizer: string,
    { refusesBlocklist = false, ...options }: UtilitySelectorOptions = {},
  ) {
    super(context, group, synchronizer, options);
    this.#refusesBlocklist = refusesBlocklist;
  }

  /** The provider is that of the group, else of the first instrument's configuration. */
  override partiesOf(inputs: Pick<EntryInputs, "roles" | "instruments">, role: string): readonly string[] {
    const named = super.partiesOf(inputs, role);
    const [instrument] = inputs.instruments;
    if (role !== "provider" || named.length > 0 || instrument === undefined) return named;
    const configuration = this.configuration(instrument, false);
    return configuration === undefined ? [] : [configuration.fields.provider];
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
    const found = selected ?? (this.hasFailed ? ofGroup(all, this.group)[0] : undefined);
    if (found === undefined) return undefined;
    if (found.fields.checkBlocklist) this.#withBlocklist.add(instrument);
    this.#configuration = found;
    this.#instrument = instrument;
    return found;
  }

  /** A missing contract comes before the blocklists that are not configured. */
  override problems(): readonly RegistryError[] {
    const blocklists = this.#refusesBlocklist ? [...this.#withBlocklist] : [];
    return [...super.problems(), ...blocklists.map((instrument) => blocklistNeeded(instrument, this.registrar))];
  }
}

const blocklistNeeded = (instrument: string, registrar: string): RegistryError =>
  invalid(
    `instrument "${instrument}" of registrar ${registrar} has checkBlocklist set, but this service has no blocklist ` +
      "to disclose for this operation, so the choice would fail: the operator can add one in OFFLEDGER_CONTEXTS",
    { code: "blocklist-not-configured", about: { registrar, instrument } },
  );
