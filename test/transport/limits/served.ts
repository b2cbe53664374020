/** A server of large responses with given budgets, and clients of it. */
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { health } from "../../../src/service/health.js";
import { type BudgetLimits, type Budgets, createBudgets } from "../../../src/transport/limits.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import { encodeRequest, largeResponseServices } from "../../fixtures/large-responses.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

export const { path, body } = encodeRequest({ form: "REST", id: "large.300000" });

export const head = (length: number): string =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

export interface RawClient {
  readonly socket: net.Socket;
  /** All that was received. */
  readonly text: () => string;
}

export class Served {
  readonly budgets: Budgets;
  #server: Server | undefined;
  #url: URL | undefined;

  /** Serves from before the first test of the file to after the last. */
  constructor(limits: BudgetLimits) {
    this.budgets = createBudgets(limits);
    beforeAll(async () => {
      const bindings = [...largeResponseServices, ...health(() => undefined)];
      this.#server = await createServer(bindings, { ...TEST_SERVER_OPTIONS, budgets: this.budgets });
      this.#url = new URL(await this.#server.listen("127.0.0.1", 0));
    });
    afterAll(() => this.#server?.close(100));
  }

  get url(): URL {
    if (this.#url === undefined) throw new Error("the server does not listen yet");
    return this.#url;
  }

  isUnused(): boolean {
    const { bodies, responses, requests } = this.budgets;
    return bodies.used === 0 && responses.used === 0 && requests.used === 0;
  }

  /** `from` is the client's address. */
  async connect(from = "127.0.0.1"): Promise<RawClient> {
    const socket = net.connect({ host: this.url.hostname, port: Number(this.url.port), localAddress: from });
    onTestFinished(() => void socket.destroy());
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk)).on("error", () => undefined);
    await once(socket, "connect");
    return { socket, text: () => Buffer.concat(chunks).toString("latin1") };
  }

  /** The status of a request on a connection of its own. */
  async status(from = "127.0.0.1"): Promise<number | undefined> {
    const { hostname, port } = this.url;
    const options = { method: "POST", path, host: hostname, port, localAddress: from, agent: false };
    const request = http.request({ ...options, headers: { "content-type": "application/json" } });
    request.end(body);
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    response.resume();
    await once(response, "end");
    return response.statusCode;
  }
}
