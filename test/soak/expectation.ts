/** The response that the specification requires for a query, on the ledger state at an offset. Independent of the code under test. */
import { Code } from "@connectrpc/connect";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import type { Query } from "./queries.js";
import {
  ABROAD,
  HOME,
  instrumentId,
  type ModelContract,
  needsCredentials,
  slots,
  toDisclosedContract,
  type World,
} from "./world.js";

export type ExpectedOutcome =
  | { readonly ok: true; readonly answer: JsonValue }
  /** `isUnknown`: no contract has the requested id, so the service waits for the ledger end before it responds. */
  | { readonly ok: false; readonly code: Code; readonly isUnknown: boolean };

interface Transfer {
  readonly sender: number;
  readonly receiver: number;
  readonly instrument: number;
}

const reject = (code: Code): ExpectedOutcome => ({ ok: false, code, isUnknown: false });

export function expectOutcome(world: World, query: Query, offset: number): ExpectedOutcome {
  const state = new State(world, offset);
  switch (query.kind) {
    case "choice":
      return state.choice(query);
    case "factory":
      return state.factory(query);
    case "configuration":
      return { ok: true, answer: toConfiguration(state.get(slots.configuration(query.instrument))) };
  }
}

/** The slots that the response may depend on, besides the offer. */
export function listSlots(query: Query): string[] {
  if (query.kind === "configuration") return [slots.configuration(query.instrument)];
  const transfer = query.kind === "choice" ? query.offer : query;
  if (transfer === undefined) return [];
  const { sender, receiver, instrument: index } = transfer;
  const { factory, rule, service } = slots;
  const credentials = [slots.credential(sender, index), slots.credential(receiver, index)];
  return [...credentials, slots.configuration(index), slots.preapproval(receiver), factory, rule, service];
}

class State {
  readonly #world: World;
  readonly #offset: number;

  constructor(world: World, offset: number) {
    this.#world = world;
    this.#offset = offset;
  }

  find(slot: string): ModelContract | undefined {
    return this.#world.contracts.at(slot, this.#offset);
  }

  /** Throws for a slot that is empty. */
  get(slot: string): ModelContract {
    const contract = this.find(slot);
    if (contract === undefined) throw new Error(`the model has no ${slot} at offset ${this.#offset}`);
    return contract;
  }

  choice({ choice, contractId, hasDebug }: Query & { readonly kind: "choice" }): ExpectedOutcome {
    const offer = this.#world.offers.at(contractId, this.#offset);
    if (offer === undefined) return { ok: false, code: Code.NotFound, isUnknown: true };
    if (offer.location === "leaving") return reject(Code.Aborted);
    const isHome = offer.location === "home";
    const context = new Context(hasDebug, isHome ? HOME : ABROAD);
    if (choice === "accept") {
      // The configuration is required, and is at home.
      if (!isHome) return reject(Code.Aborted);
      this.#addAcceptEntries(context, offer);
    } else {
      // Reject and withdraw must always be possible: nothing is required. The service of a reject is not disclosed.
      if (choice === "reject") this.#addResultContracts(context);
    }
    context.addDisclosed(offer.locked);
    return { ok: true, answer: context.answer };
  }

  factory(query: Query & { readonly kind: "factory" }): ExpectedOutcome {
    const { sender, receiver, instrument: index, hasDebug } = query;
    const preapproval = this.find(slots.preapproval(receiver));
    const isDirect = preapproval !== undefined && allowsInstrument(preapproval, instrumentId(index));
    const transferKind = sender === receiver ? "self" : isDirect ? "direct" : "offer";
    const factory = transferKind === "direct" && preapproval ? preapproval : this.get(slots.factory);
    const context = new Context(hasDebug, HOME);
    if (transferKind === "offer") {
      context.addReference("instrument-configuration", this.get(slots.configuration(index)));
      context.addList("sender-credentials", this.#credentials(sender, index));
    } else {
      this.#addAcceptEntries(context, query);
    }
    context.addDisclosed(factory);
    return { ok: true, answer: { factoryId: factory.contractId, transferKind, choiceContext: context.answer } };
  }

  #addAcceptEntries(context: Context, { sender, receiver, instrument: index }: Transfer): void {
    context.addReference("instrument-configuration", this.get(slots.configuration(index)));
    context.addList("sender-credentials", this.#credentials(sender, index));
    context.addList("receiver-credentials", this.#credentials(receiver, index));
    context.addReference("transfer-rule", this.get(slots.rule));
    this.#addResultContracts(context);
  }

  /** The service contract is not disclosed, so its synchronizer does not matter. */
  #addResultContracts(context: Context): void {
    const { enableResultContracts: value } = this.get(slots.service).payload;
    if (typeof value === "boolean") context.addEntry("enable-result-contracts", { tag: "AV_Bool", value });
  }

  /** None if the holder lacks the credential: an answer has what there is. */
  #credentials(holder: number, index: number): ModelContract[] {
    const credential = needsCredentials(index) ? this.find(slots.credential(holder, index)) : undefined;
    return credential === undefined ? [] : [credential];
  }
}

function allowsInstrument({ payload }: ModelContract, id: string): boolean {
  const allowances = payload.instrumentAllowances as unknown as readonly { readonly id: string }[];
  return allowances.length === 0 || allowances.some((allowance) => allowance.id === id);
}

/** Builds a choice context. */
class Context {
  readonly #values: JsonObject = {};
  readonly #disclosed = new Map<string, JsonObject>();
  readonly #hasDebug: boolean;
  readonly #synchronizer: string;

  constructor(hasDebug: boolean, synchronizer: string) {
    this.#hasDebug = hasDebug;
    this.#synchronizer = synchronizer;
  }

  addEntry(name: string, value: JsonObject): void {
    this.#values[`utility.digitalasset.com/${name}`] = value;
  }

  addReference(name: string, contract: ModelContract): void {
    this.addEntry(name, { tag: "AV_ContractId", value: contract.contractId });
    this.addDisclosed(contract);
  }

  addList(name: string, all: readonly ModelContract[]): void {
    this.addEntry(name, {
      tag: "AV_List",
      value: all.map(({ contractId: value }) => ({ tag: "AV_ContractId", value })),
    });
    for (const contract of all) this.addDisclosed(contract);
  }

  addDisclosed(contract: ModelContract): void {
    this.#disclosed.set(contract.contractId, toDisclosedContract(contract, this.#synchronizer, this.#hasDebug));
  }

  get answer(): JsonObject {
    return { choiceContextData: { values: this.#values }, disclosedContracts: [...this.#disclosed.values()] };
  }
}

function toConfiguration(contract: ModelContract): JsonObject {
  const { contractId, templateId, createdAt, payload } = contract;
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
