/** Transfers on a scripted ledger, as the registry's templates make them, and the service that proves them. */
import { afterAll, beforeAll } from "vitest";
import { type App, startApp } from "../../../../src/app/app.js";
import type { AppConfig } from "../../../../src/config/limits.js";
import type { JsonObject, JsonValue } from "../../../../src/util/json.js";
import { parties, payload } from "../../../fixtures/elements.js";
import { quiet } from "../../../fixtures/run-service.js";
import { within } from "../../../fixtures/wait.js";
import { type Creation, type Exercise, ScriptedLedger, type Step } from "../../../scripted-participant/ledger.js";
import { Participant } from "../../../scripted-participant/participant.js";

export const { operator, provider, registrar } = parties;
export const [alice, bob] = ["alice::1220", "bob::1220"];

/** A transfer as the sender requests it, and as a request for a proof names it. */
export const transfer: JsonObject = {
  sender: alice,
  receiver: bob,
  amount: "12.5000000000",
  instrumentId: { admin: registrar, id: "USD" },
  requestedAt: "2026-01-05T09:00:00.123456Z",
  executeBefore: "2036-01-05T09:00:00.000000Z",
  inputHoldingCids: ["input-1", "input-2"],
  meta: { values: { "splice.lfdecentralizedtrust.org/reason": "rent", "acme.example/invoice": "17" } },
};

const app = "utility-registry-app-v0";

interface Parties {
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
}

/** The stakeholders of factories and rules. Nonconsuming choices are not shown to observers. */
const byRegistrar: Parties = { signatories: [provider, registrar], observers: [operator] };

const contract = (contractId: string, packageName: string, entity: string, argument: JsonObject, of: Parties) => ({
  create: {
    contractId,
    packageName,
    templateId: `pkg-1:${entity}`,
    payload: argument,
    createdEventBlob: Buffer.from(contractId).toString("base64"),
    ...of,
  } satisfies Creation,
});

export const factory = (id: string) =>
  contract(
    id,
    app,
    "Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory",
    payload.service(),
    byRegistrar,
  );

export const rule = (id: string) =>
  contract(id, "utility-registry-v0", "Utility.Registry.V0.Rule.Transfer:TransferRule", payload.service(), byRegistrar);

export const preapproval = (id: string, receiver: string = bob) =>
  contract(
    id,
    app,
    "Utility.Registry.App.V0.Model.TransferPreapproval:TransferPreapproval",
    payload.preapproval(receiver, []),
    { signatories: [receiver], observers: [operator] },
  );

export const holding = (id: string) =>
  contract(
    id,
    "utility-registry-holding-v0",
    "Utility.Registry.Holding.V0.Holding:Holding",
    payload.lockedHolding(alice, "USD"),
    { signatories: [registrar, alice], observers: [operator, provider] },
  );

/** Creates an offer without a transfer choice. Its only input is the locked holding. */
export const offerCreation = (id: string, terms: JsonObject = transfer, locked = `${id}-locked`) =>
  contract(
    id,
    app,
    "Utility.Registry.App.V0.Model.Transfer:TransferOffer",
    { operator, provider, transfer: { ...terms, inputHoldingCids: [locked] } },
    { signatories: [provider, registrar, alice], observers: [operator, bob] },
  );

/** The result of a choice of the standard. */
export const result = (outcome: "Completed" | "Pending" | "Failed", value: JsonObject = {}): JsonObject => ({
  senderChangeCids: [],
  output: { tag: `TransferInstructionResult_${outcome}`, value },
  meta: { values: {} },
});

export const pending = (transferInstructionCid: string): JsonObject => result("Pending", { transferInstructionCid });
export const completed = result("Completed", { receiverHoldingCids: ["received"] });

const extraArgs = { context: { values: {} }, meta: { values: {} } };

/** TransferFactory_Transfer on a factory; the transfer happens at once, where nothing else is said. */
export function transferring(on: string, terms: JsonObject = transfer, more: Partial<Exercise> = {}): Step {
  const { result: given = completed, steps = [] } = more;
  const payloadOf = { expectedAdmin: registrar, transfer: terms, extraArgs };
  // The scripted ledger has no choice observers: here the operator, who is shown this choice, is an actor.
  const internal = {
    contractId: on,
    choice: "AllocationFactory_TransferInternal",
    argument: { payload: payloadOf },
    result: given,
    actors: [alice, provider, registrar, operator],
    steps,
  };
  const outer = { contractId: on, choice: "TransferFactory_Transfer", argument: payloadOf, result: given };
  return { exercise: { ...outer, actors: [alice], steps: [{ exercise: internal }] } };
}

/** TransferFactory_Transfer on a preapproval, which executes the transfer at once. */
export function transferringDirectly(on: string, terms: JsonObject = transfer, steps?: readonly Step[]): Step {
  const argument = { expectedAdmin: registrar, transfer: terms, extraArgs };
  const outer = { contractId: on, choice: "TransferFactory_Transfer", argument, result: completed, actors: [alice] };
  return { exercise: { ...outer, steps: steps ?? [executing("TransferRule_DirectTransfer", terms)] } };
}

/** The choice of the rule that executes a transfer. As above, the operator is an actor. */
export const executing = (choice: string, terms: JsonObject): Step => ({
  exercise: {
    contractId: "rule",
    choice,
    argument: { transfer: terms, extraArgs, expectedOperator: operator },
    result: { receiverHoldingCid: "received" },
    actors: [alice, bob, operator],
  },
});

/** The transfer is offered: a holding is locked, and the offer names it. */
export const offering = (on: string, id: string, terms: JsonObject = transfer): Step =>
  transferring(on, terms, { result: pending(id), steps: [holding(`${id}-locked`), offerCreation(id, terms)] });

/** The offer ends by a choice of the standard. An accept that succeeds executes the offer's transfer. */
export function ending(
  how: "Accept" | "Reject" | "Withdraw",
  id: string,
  more: Partial<Exercise> = {},
  terms: JsonObject = transfer,
): Step {
  const isExecuted = how === "Accept" && more.result === undefined;
  const locked = { ...terms, inputHoldingCids: [`${id}-locked`] };
  const exercise = {
    contractId: id,
    choice: `TransferInstruction_${how}`,
    consuming: true,
    argument: { extraArgs },
    result: how === "Accept" ? completed : result("Failed"),
    actors: [how === "Withdraw" ? alice : bob],
    steps: isExecuted ? [executing("TransferRule_TwoStepTransfer", locked)] : [],
  };
  return { exercise: { ...exercise, ...more } };
}

const path = "/api/utilities/v0/registry/transfer/v0/proof";

export interface Proof {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** As it came. */
  readonly text: string;
}

/** A response without its time. */
export async function proofAt(url: string, body: JsonValue | string): Promise<Proof> {
  const sent = typeof body === "string" ? body : JSON.stringify(body);
  // A response has the caller's id, or another each time.
  const headers = { "content-type": "application/json", "x-request-id": "proof" };
  const asking = fetch(url + path, { method: "POST", headers, body: sent });
  const response = await within(20_000, "an answer", asking);
  const { date: _, ...others } = Object.fromEntries(response.headers);
  return { status: response.status, headers: others, text: await response.text() };
}

/** A ledger with a factory, a rule and a preapproval of bob's, a participant that has it, and the service. */
export class Proving {
  readonly ledger = new ScriptedLedger();
  #participant: Participant | undefined;
  #service: App | undefined;

  async start(config: Partial<AppConfig> = {}): Promise<void> {
    this.ledger.transact([factory("factory"), preapproval("preapproval"), rule("rule")]);
    this.#participant = await Participant.start({ ledger: this.ledger });
    const settings = { ledgerUrl: new URL(this.#participant.url), ledgerParties: [operator], graceSeconds: 1 };
    this.#service = await startApp({ ...quiet(), ...settings, readWaitMs: 300, ...config });
  }

  async stop(): Promise<void> {
    await this.#service?.close();
    await this.#participant?.stop();
  }

  get participant(): Participant {
    if (this.#participant === undefined) throw new Error("it is not started");
    return this.#participant;
  }

  get url(): string {
    if (this.#service === undefined) throw new Error("it is not started");
    return this.#service.url;
  }

  /** One transaction; gives the id of its update. */
  transact(...steps: readonly Step[]): string {
    return this.updateId(this.ledger.transact(steps));
  }

  updateId(offset: number): string {
    const entry = this.ledger.log.at(offset);
    if (entry === undefined) throw new Error(`no update has offset ${offset}`);
    return entry.updateId;
  }

  ask(updateId: string, asked: JsonValue = transfer): Promise<Proof> {
    return proofAt(this.url, { updateId, transfer: asked });
  }

  /** The body of a response with status 200; the status and body of any other. */
  async status(updateId: string, asked?: JsonValue): Promise<string> {
    const { status, text } = await this.ask(updateId, asked);
    return status === 200 ? text : `${status} ${text}`;
  }
}

/** The same, for all tests of a file. */
export function proving(config?: Partial<AppConfig>): Proving {
  const place = new Proving();
  beforeAll(() => place.start(config));
  afterAll(() => place.stop());
  return place;
}

export const success = '{"status":"Success"}';
export const failure = '{"status":"Failure"}';
export const stillPending = '{"status":"Pending"}';

/** The response to a transfer that cannot be verified, whatever the cause. */
export const unverifiedBody = {
  error: "invalid_argument",
  error_description: "the transfer cannot be verified: check the update id and every value of the transfer",
};
export const unverified = `400 ${JSON.stringify(unverifiedBody)}`;

/** Unknown ids. */
export const unknownId = `1220${"0".repeat(64)}`;

let made = 0;
/** A unique name. */
export const fresh = (name: string): string => `${name}-${made++}`;
