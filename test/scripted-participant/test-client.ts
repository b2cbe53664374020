/** Contracts, requests and a recording client for the tests of the participant. */
import { type ClientOptions, WebSocket } from "ws";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { MAX_WAIT_MS, until, within } from "../fixtures/wait.js";
import type { Creation } from "./ledger.js";
import type { EventFormat, UpdateFormat, UpdatesRequest } from "./messages.js";
import type { StreamPath } from "./faults.js";

export const operator = "operator::1220";
export const alice = "alice::1220";
const entity = "Utility.Registry.V0.Rule.Transfer:TransferRule";
export const template = `#utility-registry-v0:${entity}`;

/** A contract of the template of the requests below, signed by the operator and observed by Alice. */
export function creation(contractId: string, more: Partial<Creation> = {}): Creation {
  return {
    contractId,
    templateId: `pkg-1:${entity}`,
    packageName: "utility-registry-v0",
    payload: { operator, note: contractId },
    createdEventBlob: Buffer.from(`blob of ${contractId}`).toString("base64"),
    signatories: [operator],
    observers: [alice],
    ...more,
  };
}

export function eventFormat(parties: readonly string[] = [operator], templateId: string = template): EventFormat {
  const value = { templateId, includeCreatedEventBlob: true };
  const filters = { cumulative: [{ identifierFilter: { TemplateFilter: { value } } }] };
  return { filtersByParty: Object.fromEntries(parties.map((party) => [party, filters])), verbose: false };
}

export function updateFormat(parties: readonly string[] = [operator]): UpdateFormat {
  const format = eventFormat(parties);
  return {
    includeTransactions: { eventFormat: format, transactionShape: "TRANSACTION_SHAPE_ACS_DELTA" },
    includeReassignments: format,
  };
}

export function updatesRequest(beginExclusive: number, endInclusive?: number): UpdatesRequest {
  const request = { beginExclusive, updateFormat: updateFormat() };
  return endInclusive === undefined ? request : { ...request, endInclusive };
}

export interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly body: JsonValue;
}

/** Sends an HTTP request: POST with a body, else GET. A response that is not JSON is returned as text. */
export async function ask(url: string, body?: object | string, token?: string): Promise<Answer> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const sent =
    body === undefined ? {} : { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) };
  const response = await within(MAX_WAIT_MS, `an answer from ${url}`, fetch(url, { headers, ...sent }));
  const text = await response.text();
  const type = response.headers.get("content-type");
  // JSON.parse returns JSON values only.
  return { status: response.status, type, body: type === "application/json" ? (JSON.parse(text) as JsonValue) : text };
}

/** A WebSocket client that records every message. */
export class Listener {
  readonly texts: string[] = [];
  /** The close code (1006 without a close frame) and the error, if any. */
  readonly ended: Promise<{ readonly code: number; readonly error: string | undefined }>;
  pongs = 0;
  readonly #webSocket: WebSocket;

  constructor(
    url: string,
    path: StreamPath,
    request: object | string,
    protocols: readonly string[] = ["daml.ws.auth"],
    options: ClientOptions = {},
  ) {
    this.#webSocket = new WebSocket(url.replace(/^http/, "ws") + path, [...protocols], options);
    let failure: string | undefined;
    this.#webSocket
      .on("open", () => this.#webSocket.send(typeof request === "string" ? request : JSON.stringify(request)))
      .on("message", (data: Buffer) => this.texts.push(data.toString()))
      .on("pong", () => this.pongs++)
      .on("error", (error) => (failure = error.message));
    const ended = new Promise<{ code: number; error: string | undefined }>((resolve) => {
      this.#webSocket.on("close", (code) => resolve({ code, error: failure }));
    });
    this.ended = within(MAX_WAIT_MS, "the stream ends", ended);
    this.ended.catch(() => {});
  }

  get messages(): readonly JsonObject[] {
    // Every message of the API is an object.
    return this.texts.map((text) => JSON.parse(text) as JsonObject);
  }

  get protocol(): string {
    return this.#webSocket.protocol;
  }

  async receive(count: number): Promise<readonly JsonObject[]> {
    await until(
      `${count} messages have come, and not ${this.texts.length}`,
      () => this.texts.length >= count,
      MAX_WAIT_MS,
    );
    return this.messages;
  }

  ping(): void {
    this.#webSocket.ping();
  }

  end(): void {
    this.#webSocket.terminate();
  }
}

/** The offset and the form of an update, for example `5 Transaction`. */
export function describeUpdate(message: JsonObject): string {
  const { update } = message as { update: Record<string, { value: { offset: number } }> };
  const [[form, { value }] = ["nothing", { value: { offset: 0 } }]] = Object.entries(update);
  return `${value.offset} ${form}`;
}
