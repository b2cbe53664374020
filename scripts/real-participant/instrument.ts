/** One instrument on a participant: contracts that flows need, and choices exercised with the service's answers. */
import type { JsonObject } from "../../src/util/json.js";
import type { Context } from "../../test/fidelity/contexts.js";
import { type Command, type Created, createdOf, type Ledger, type Onboarded, templates } from "./ledger.js";
import type { Service } from "./service.js";

/** Milliseconds from now, as the ledger encodes a time. */
export const at = (ms: number): string => new Date(Date.now() + ms).toISOString();
export const NO_META: JsonObject = { values: {} };
export const NO_CONTEXT: JsonObject = { context: { values: {} }, meta: NO_META };

/** Ledger time may be behind that of this machine. */
export const REQUESTED_MS = -60_000;
export const HOUR_MS = 3_600_000;

/** A choice and the request for its context. */
export interface Step {
  readonly actAs: readonly string[];
  readonly path: string;
  readonly body?: JsonObject;
  /** Without contract id the choice is exercised on the factory of the answer. */
  readonly command: Command;
  /** The choice has no argument for a context. */
  readonly isWithoutContext?: boolean;
}

export class Instrument {
  readonly name: string;
  readonly operator: string;
  readonly provider: string;
  readonly registrar: string;
  readonly executor: string;
  readonly alice: string;
  readonly bob: string;

  constructor(
    readonly ledger: Ledger,
    readonly service: Service,
    onboarded: Onboarded,
    registrar: string,
    readonly id: string,
  ) {
    const party = (name: string): string => {
      const found = onboarded.parties[name];
      if (found === undefined) throw new Error(`the participant has no party ${name}`);
      return found;
    };
    const group = onboarded.registrars[registrar];
    if (group?.configs[id] === undefined) throw new Error(`${registrar} has no instrument ${id}`);
    this.name = `${registrar}/${id}`;
    [this.operator, this.provider, this.registrar] = [party("operator"), party(group.provider), party(registrar)];
    [this.executor, this.alice, this.bob] = [party("executor"), party("alice"), party("bob")];
  }

  get instrumentId(): JsonObject {
    return { admin: this.registrar, id: this.id };
  }

  /** A path of the token standard. */
  standard(path: string): string {
    return `/api/token-standard/v0/registrars/${encodeURIComponent(this.registrar)}/registry/${path}`;
  }

  /** A new holding of 10.0 that the owner can spend. */
  async holding(owner: string): Promise<string> {
    const { operator, provider, registrar, id } = this;
    const instrument = { source: registrar, id, scheme: "RegistrarInternalScheme" };
    const argument = { operator, provider, registrar, owner, instrument, label: "", amount: "10.0", lock: null };
    const created = await this.ledger.submit([registrar, owner], { templateId: templates.holding, argument });
    return createdOf(created, "Holding");
  }

  /** Lets a party receive the instrument directly while `use` runs. */
  async preapproved(receiver: string, use: () => Promise<void>): Promise<void> {
    const { operator, registrar, id } = this;
    const argument = { operator, receiver, instrumentAdmin: registrar, instrumentAllowances: [{ id }] };
    const templateId = templates.preapproval;
    const created = await this.ledger.submit([receiver], { templateId, argument });
    const contractId = createdOf(created, "TransferPreapproval");
    try {
      await use();
    } finally {
      await this.ledger.submit([receiver], { templateId, contractId, choice: "Archive", argument: {} });
    }
  }

  /** A credential with a claim on its holder, for as long as the participant runs. */
  async credential(issuer: string, holder: string, property: string, value: string): Promise<void> {
    const claims = [{ subject: holder, property, value }];
    const observers = { map: [[this.operator, {}]] };
    const argument = { issuer, holder, id: property, description: "", validFrom: null, validUntil: null, claims };
    const command = { templateId: templates.credential, argument: { ...argument, observers } };
    await this.ledger.submit([issuer, holder], command);
  }

  /** The arguments of TransferFactory_Transfer. */
  transfer(sender: string, receiver: string, input: string, meta: JsonObject = {}): JsonObject {
    const { registrar, instrumentId } = this;
    const times = { requestedAt: at(REQUESTED_MS), executeBefore: at(HOUR_MS) };
    const terms = { sender, receiver, amount: "3.0", instrumentId, ...times, inputHoldingCids: [input] };
    return { expectedAdmin: registrar, transfer: { ...terms, meta: { values: meta } } };
  }

  /** An allocation of alice for a transfer to bob. */
  allocation(): JsonObject {
    const { alice, bob, executor, instrumentId } = this;
    const settlement = {
      executor,
      settlementRef: { id: "settlement", cid: null },
      requestedAt: at(REQUESTED_MS),
      allocateBefore: at(HOUR_MS / 2),
      settleBefore: at(HOUR_MS),
      meta: NO_META,
    };
    const transferLeg = { sender: alice, receiver: bob, amount: "2.0", instrumentId, meta: NO_META };
    return { settlement, transferLegId: "leg", transferLeg };
  }

  /** Asks the service, and exercises the choice with its answer as the acting parties alone. */
  async exercise(step: Step): Promise<{ readonly created: Created; readonly answer: Context }> {
    const { actAs, path, body, command, isWithoutContext = false } = step;
    const answer = await this.service.ask(path, body);
    const contractId = command.contractId ?? answer.factoryId;
    if (contractId === undefined) throw new Error(`the answer to ${path} has no factory`);
    const extraArgs = { context: { values: answer.values }, meta: NO_META };
    const argument = isWithoutContext ? command.argument : { ...command.argument, extraArgs };
    const created = await this.ledger.submit(actAs, { ...command, contractId, argument }, answer.disclosed);
    return { created, answer };
  }
}
