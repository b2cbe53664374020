/** Contracts, requests and a recording client for the tests of the participant. */
import { WebSocket } from "ws";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { MAX_WAIT_MS, until, within } from "../fixtures/wait.js";
import type { Creation } from "./ledger.js";
import type { UpdatesRequest } from "./messages.js";
import type { StreamPath } from "./faults.js";

export const operator = "operator::1220";
export const alice = "alice::1220";
const entity = "Utility.Registry.V0.Rule.Transfer:TransferRule";

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

/** Follows updates on contracts of that template, as the operator. */
export function updatesRequest(beginExclusive: number): UpdatesRequest {
  const templateId = `#utility-registry-v0:${entity}`;
  const cumulative = [{ identifierFilter: { TemplateFilter: { value: { templateId } } } }];
  const eventFormat = { filtersByParty: { [operator]: { cumulative } } };
  const transactions = { eventFormat, transactionShape: "TRANSACTION_SHAPE_ACS_DELTA" } as const;
  return { beginExclusive, updateFormat: { includeTransactions: transactions } };
}

/** Sends JSON: POST with a body, else GET. */
export async function ask(url: string, body?: object): Promise<JsonValue> {
  const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await within(MAX_WAIT_MS, `an answer from ${url}`, fetch(url, sent));
  return (await response.json()) as JsonValue;
}

/** A WebSocket client that records every message. */
export class Listener {
  readonly texts: string[] = [];
  /** With the close code; 1006 without a close frame. */
  readonly ended: Promise<{ readonly code: number }>;
  pongs = 0;
  readonly #webSocket: WebSocket;

  constructor(url: string, path: StreamPath, request: object | string) {
    this.#webSocket = new WebSocket(url.replace(/^http/, "ws") + path, ["daml.ws.auth"]);
    this.#webSocket
      .on("open", () => this.#webSocket.send(typeof request === "string" ? request : JSON.stringify(request)))
      .on("message", (data: Buffer) => this.texts.push(data.toString()))
      .on("pong", () => this.pongs++)
      .on("error", () => {});
    const ended = new Promise<{ code: number }>((resolve) => {
      this.#webSocket.on("close", (code) => resolve({ code }));
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
