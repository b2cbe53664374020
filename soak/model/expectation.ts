/** What the specification has a question answered, on the state of the ledger at an offset. Written by hand from it. */
import { Code } from "@connectrpc/connect";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { ABROAD, disclosed, HOME, instrument, type Made, needsCredentials } from "./contracts.js";
import type { Question } from "./queries.js";
import { slots, type World } from "./world.js";

export type Expected =
  | { readonly ok: true; readonly answer: JsonValue }
  /** `isUnknown`: what was asked for by its id is not there, so that the service first has to look whether it came. */
  | { readonly ok: false; readonly codes: readonly Code[]; readonly isUnknown: boolean };

/** Who takes part in a transfer. */
interface Transfer {
  readonly sender: number;
  readonly receiver: number;
  readonly instrument: number;
}

/** With one of the codes, where more than one thing is missing and nobody says which is told first. */
const refusal = (...codes: readonly Code[]): Expected => ({ ok: false, codes, isUnknown: false });

export function expected(world: World, question: Question, offset: number): Expected {
  const state = new State(world, offset);
  switch (question.sort) {
    case "choice":
      return state.choice(question);
    case "factory":
      return state.factory(question);
    case "configuration":
      return { ok: true, answer: configuration(state.the(slots.configuration(question.instrument))) };
  }
}

/** The names that an answer may depend on, besides the offer itself. */
export function namesOf(question: Question): string[] {
  if (question.sort === "configuration") return [slots.configuration(question.instrument)];
  const transfer = question.sort === "choice" ? question.offer : question;
  if (transfer === undefined) return [];
  const { sender, receiver, instrument: index } = transfer;
  const { factory, rule, reward, right, service } = slots;
  const credentials = [slots.credential(sender, index), slots.credential(receiver, index)];
  return [
    ...credentials,
    slots.configuration(index),
    slots.preapproval(receiver),
    factory,
    rule,
    reward,
    right,
    service,
  ];
}

class State {
  readonly #world: World;
  readonly #offset: number;

  constructor(world: World, offset: number) {
    this.#world = world;
    this.#offset = offset;
  }

  one(slot: string): Made | undefined {
    return this.#world.contracts.at(slot, this.#offset);
  }

  /** What is there at all times. */
  the(slot: string): Made {
    const made = this.one(slot);
    if (made === undefined) throw new Error(`the model has no ${slot} at offset ${this.#offset}`);
    return made;
  }

  choice({ choice, contractId, hasDebug }: Question & { readonly sort: "choice" }): Expected {
    const offer = this.#world.offers.at(contractId, this.#offset);
    if (offer === undefined) return { ok: false, codes: [Code.NotFound], isUnknown: true };
    if (offer.place === "leaving") return refusal(Code.Aborted);
    const isHome = offer.place === "home";
    const context = new Context(hasDebug, isHome ? HOME : ABROAD);
    if (choice === "accept") {
      const isMet = this.#isMet(offer);
      if (!isHome) return isMet ? refusal(Code.Aborted) : refusal(Code.Aborted, Code.NotFound);
      if (!isMet) return refusal(Code.NotFound);
      this.#acceptance(context, offer);
    } else {
      // It lets a party out: what is elsewhere is left out, and the service, which is not disclosed, speaks from anywhere.
      if (isHome) context.refer("instrument-configuration", this.the(slots.configuration(offer.instrument)));
      const { enableResultContracts: value } = this.the(slots.service).payload;
      if (typeof value === "boolean") context.put("enable-result-contracts", { tag: "AV_Bool", value });
    }
    context.disclose(offer.locked);
    return { ok: true, answer: context.answer };
  }

  factory(question: Question & { readonly sort: "factory" }): Expected {
    const { sender, receiver, instrument: index, hasDebug } = question;
    const preapproval = this.one(slots.preapproval(receiver));
    const isDirect = preapproval !== undefined && covers(preapproval, instrument(index));
    const transferKind = sender === receiver ? "self" : isDirect ? "direct" : "offer";
    const factory = transferKind === "direct" && preapproval ? preapproval : this.the(slots.factory);
    const context = new Context(hasDebug, HOME);
    if (transferKind === "offer") {
      if (!this.#has(sender, index)) return refusal(Code.NotFound);
      context.refer("instrument-configuration", this.the(slots.configuration(index)));
      context.list("sender-credentials", this.#credentials(sender, index));
    } else {
      if (!this.#isMet(question)) return refusal(Code.NotFound);
      this.#acceptance(context, question);
    }
    context.disclose(factory);
    return { ok: true, answer: { factoryId: factory.contractId, transferKind, choiceContext: context.answer } };
  }

  #acceptance(context: Context, { sender, receiver, instrument: index }: Transfer): void {
    context.refer("instrument-configuration", this.the(slots.configuration(index)));
    context.list("sender-credentials", this.#credentials(sender, index));
    context.list("receiver-credentials", this.#credentials(receiver, index));
    context.refer("transfer-rule", this.the(slots.rule));
    context.refer("app-reward-configuration", this.one(slots.reward));
    context.refer("featured-app-right", this.one(slots.right));
  }

  #credentials(who: number, index: number): Made[] {
    return needsCredentials(index) ? [this.the(slots.credential(who, index))] : [];
  }

  #has(who: number, index: number): boolean {
    return !needsCredentials(index) || this.one(slots.credential(who, index)) !== undefined;
  }

  #isMet({ sender, receiver, instrument: index }: Transfer): boolean {
    return this.#has(sender, index) && this.#has(receiver, index);
  }
}

/** An empty list allows every instrument. */
function covers({ payload }: Made, id: string): boolean {
  const allowances = payload.instrumentAllowances as unknown as readonly { readonly id: string }[];
  return allowances.length === 0 || allowances.some((allowance) => allowance.id === id);
}

/** A choice context of a transfer, whose entries stand under two names each. */
class Context {
  readonly #values: JsonObject = {};
  readonly #disclosed = new Map<string, JsonObject>();
  readonly #hasDebug: boolean;
  readonly #synchronizer: string;

  constructor(hasDebug: boolean, synchronizer: string) {
    this.#hasDebug = hasDebug;
    this.#synchronizer = synchronizer;
  }

  put(name: string, value: JsonObject): void {
    this.#values[name] = value;
    this.#values[`utility.digitalasset.com/${name}`] = value;
  }

  refer(name: string, made: Made | undefined): void {
    if (made === undefined) return;
    this.put(name, { tag: "AV_ContractId", value: made.contractId });
    this.disclose(made);
  }

  list(name: string, all: readonly Made[]): void {
    this.put(name, { tag: "AV_List", value: all.map(({ contractId: value }) => ({ tag: "AV_ContractId", value })) });
    for (const made of all) this.disclose(made);
  }

  disclose(made: Made): void {
    this.#disclosed.set(made.contractId, disclosed(made, this.#synchronizer, this.#hasDebug));
  }

  get answer(): JsonObject {
    return { choiceContextData: { values: this.#values }, disclosedContracts: [...this.#disclosed.values()] };
  }
}

function configuration(made: Made): JsonObject {
  const { contractId, templateId, createdAt, payload } = made;
  const requirements = (name: string) =>
    (
      payload[name] as unknown as readonly { issuer: string; requiredClaims: readonly { _1: string; _2: string }[] }[]
    ).map(({ issuer, requiredClaims }) => ({
      issuer,
      requiredClaims: JSON.stringify(requiredClaims.map(({ _1: property, _2: value }) => ({ property, value }))),
    }));
  const { providerAppRewardBeneficiaries: _, ...others } = payload;
  return {
    contract: { contractId, templateId, createdAt, synchronizerId: HOME, domainId: HOME },
    payload: {
      ...others,
      issuerRequirements: requirements("issuerRequirements"),
      holderRequirements: requirements("holderRequirements"),
    },
  };
}
