/** A client of the participant's JSON API with keep-alive. */
import { Agent, request as requestHttp } from "node:http";
import { text } from "node:stream/consumers";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Template } from "../registries/element.js";

export interface ParticipantContract {
  readonly contractId: string;
  readonly templateId: string;
  readonly packageName: string;
  readonly createdEventBlob: string;
  readonly createdAt: string;
  readonly synchronizerId: string;
  readonly createArgument: JsonObject;
}

const TIMEOUT_MS = 30_000;

export class Participant {
  readonly #url: string;
  readonly #party: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(url: string, party: string) {
    this.#url = url;
    this.#party = party;
  }

  async ledgerEnd(): Promise<number> {
    const { offset } = (await this.#call("GET", "/v2/state/ledger-end")) as { offset: number };
    return offset;
  }

  async createElement(activeAtOffset: number, templates: readonly Template[]): Promise<ParticipantContract[]> {
    const request = { activeAtOffset, eventFormat: this.#format(templates) };
    const elements = (await this.#call("POST", "/v2/state/active-contracts", request)) as JsonObject[];
    return elements.flatMap(({ contractEntry }) => {
      const { JsActiveContract: contract } = contractEntry as { JsActiveContract?: JsonObject };
      return contract === undefined ? [] : [toContract(contract)];
    });
  }

  async byId(contractId: string, template: Template): Promise<ParticipantContract | undefined> {
    const request = { contractId, eventFormat: this.#format([template]) };
    const { created, archived } = (await this.#call("POST", "/v2/events/events-by-contract-id", request)) as JsonObject;
    return created === null || archived !== null ? undefined : toContract(created as JsonObject);
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
    // A keep-alive connection may be closed just as it is reused: the participant has not read the request.
    const response = await this.#send(method, path, content).catch((error: unknown) => {
      if (error instanceof StaleConnection) return this.#send(method, path, content, false);
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
      const request = requestHttp(this.#url + path, { method, agent, headers, timeout: TIMEOUT_MS });
      request.on("error", (error) => reject(request.reusedSocket ? new StaleConnection(error.message) : error));
      request.on("timeout", () => request.destroy(new Error(`no response to ${path} within ${TIMEOUT_MS} ms`)));
      request.on("response", (response) => {
        if (response.statusCode === 200) resolve(response);
        else reject(new Error(`${path} responded with status ${response.statusCode}`));
      });
      request.end(content);
    });
  }
}

class StaleConnection extends Error {}

/** From an active-contracts element or the events of a contract, which share these two properties. */
function toContract({ createdEvent, synchronizerId }: JsonObject): ParticipantContract {
  return { ...(createdEvent as unknown as ParticipantContract), synchronizerId: synchronizerId as string };
}
