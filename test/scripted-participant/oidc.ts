/** An OpenID Connect issuer: discovery, and client credentials of one client in the form of a request. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { reply } from "./http.js";
import { Tokens } from "./tokens.js";

export class Issuer {
  /** Those that a participant accepts. */
  readonly tokens = new Tokens();
  readonly issued: string[] = [];
  readonly url: string;
  readonly #server: Server;
  readonly #expiresIn: number;

  /** `expiresIn` is the lifetime of tokens in seconds. */
  static async start({ expiresIn = 3600 }: { readonly expiresIn?: number } = {}): Promise<Issuer> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return new Issuer(server, `http://127.0.0.1:${address.port}`, expiresIn);
  }

  private constructor(server: Server, url: string, expiresIn: number) {
    this.url = url;
    this.#expiresIn = expiresIn;
    this.#server = server;
    server.on("request", (request, response) => void this.#answer(request, response));
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    if (request.url === "/.well-known/openid-configuration") {
      reply(response, 200, { issuer: this.url, token_endpoint: `${this.url}/token` });
    } else if (request.url !== "/token") {
      reply(response, 404, "no such page");
    } else if (form.grant_type !== "client_credentials") {
      reply(response, 400, { error: "unsupported_grant_type" });
    } else if (form.client_id !== "offledger" || form.client_secret !== "secret") {
      reply(response, 401, { error: "invalid_client" });
    } else {
      const token = this.tokens.issue({ expiresInMs: this.#expiresIn * 1000 });
      this.issued.push(token);
      reply(response, 200, { access_token: token, token_type: "Bearer", expires_in: this.#expiresIn });
    }
  }
}
