/** Questions to a participant over HTTP, on connections that are kept. */
import { Agent, request as requestHttp } from "node:http";
import { text } from "node:stream/consumers";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Template } from "../registries/element.js";

/** A contract as the participant tells of it. */
export interface Active {
  readonly contractId: string;
  readonly templateId: string;
  readonly packageName: string;
  readonly createdEventBlob: string;
  readonly createdAt: string;
  readonly synchronizerId: string;
  readonly createArgument: JsonObject;
}

/** Longest wait for an answer, in milliseconds. */
const PATIENCE_MS = 30_000;

export class Participant {
  readonly #url: string;
  readonly #party: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  /** Sees what the party sees. */
  constructor(url: string, party: string) {
    this.#url = url;
    this.#party = party;
  }

  async ledgerEnd(): Promise<number> {
    const { offset } = (await this.#call("GET", "/v2/state/ledger-end")) as { offset: number };
    return offset;
  }

  /** The active contracts of some templates. */
  async active(activeAtOffset: number, templates: readonly Template[]): Promise<Active[]> {
    const request = { activeAtOffset, eventFormat: this.#format(templates) };
    const elements = (await this.#call("POST", "/v2/state/active-contracts", request)) as JsonObject[];
    return elements.flatMap(({ contractEntry }) => {
      const { JsActiveContract: found } = contractEntry as { JsActiveContract?: JsonObject };
      return found === undefined ? [] : [activeOf(found)];
    });
  }

  /** One contract; undefined where it is not active. */
  async byId(contractId: string, template: Template): Promise<Active | undefined> {
    const request = { contractId, eventFormat: this.#format([template]) };
    const { created, archived } = (await this.#call("POST", "/v2/events/events-by-contract-id", request)) as JsonObject;
    return created === null || archived !== null ? undefined : activeOf(created as JsonObject);
  }

  #format(templates: readonly Template[]): JsonObject {
    const cumulative = templates.map(({ packageName, qualifiedName }) => ({
      identifierFilter: {
        TemplateFilter: { value: { templateId: `#${packageName}:${qualifiedName}`, includeCreatedEventBlob: true } },
      },
    }));
    return { filtersByParty: { [this.#party]: { cumulative } }, verbose: false };
  }

  async #call(method: string, path: string, body?: JsonObject): Promise<JsonValue> {
    const content = body === undefined ? undefined : JSON.stringify(body);
    // The participant may close a kept connection just when it is used again: then the request was not taken.
    const response = await this.#send(method, path, content).catch((error: unknown) => {
      if (error instanceof Unused) return this.#send(method, path, content, false);
      throw error;
    });
    return JSON.parse(await text(response)) as JsonValue;
  }

  #send(
    method: string,
    path: string,
    content: string | undefined,
    agent: Agent | false = this.#agent,
  ): Promise<NodeJS.ReadableStream> {
    return new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json" };
      const request = requestHttp(this.#url + path, { method, agent, headers, timeout: PATIENCE_MS });
      request.on("error", (error) => reject(request.reusedSocket ? new Unused(error.message) : error));
      request.on("timeout", () => request.destroy(new Error(`${path} takes too long`)));
      request.on("response", (answer) => {
        if (answer.statusCode === 200) resolve(answer);
        else reject(new Error(`${path} answers ${answer.statusCode}`));
      });
      request.end(content);
    });
  }
}

/** A kept connection turned out to be closed. */
class Unused extends Error {}

/** An element of active contracts, or what is told of a contract by its id: both have these two. */
function activeOf({ createdEvent, synchronizerId }: JsonObject): Active {
  return { ...(createdEvent as unknown as Active), synchronizerId: synchronizerId as string };
}
