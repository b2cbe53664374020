/** The service on a scripted participant, with requests for transfer proofs. */
import { afterAll, beforeAll } from "vitest";
import { type App, startApp } from "../../../../src/app/app.js";
import type { Config } from "../../../../src/config/config.js";
import type { JsonValue } from "../../../../src/domain/json.js";
import { quiet } from "../../../fixtures/run-service.js";
import { within } from "../../../fixtures/wait.js";
import { ScriptedLedger, type Step } from "../../../scripted-participant/ledger.js";
import { Participant, type ParticipantOptions } from "../../../scripted-participant/participant.js";
import { factory, operator, preapproval, rule, transfer } from "./transfer-steps.js";

export const path = "/api/utilities/v0/registry/transfer/v0/proof";

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

  async start(config: Partial<Config> = {}, options: ParticipantOptions = {}): Promise<void> {
    this.ledger.transact([factory("factory"), preapproval("preapproval"), rule("rule")]);
    this.#participant = await Participant.start({ ledger: this.ledger, ...options });
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
export function proving(config?: Partial<Config>, options?: ParticipantOptions): Proving {
  const place = new Proving();
  beforeAll(() => place.start(config, options));
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
