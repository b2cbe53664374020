/** A token endpoint for client credentials, and the page by which it is found. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { reply } from "./http.js";
import { Tokens } from "./tokens.js";

export interface IssuerOptions {
  /** Those of the participant that is to take what is issued; a set of its own where not said. */
  readonly tokens?: Tokens;
  /** 0, where not said, lets the system choose. */
  readonly port?: number;
  /** "offledger" where not said. */
  readonly clientId?: string;
  /** "secret" where not said. */
  readonly clientSecret?: string;
  /** For how long tokens are good, in seconds; 3600 where not said. */
  readonly expiresIn?: number;
  /** Whether the answer says so; true where not said. */
  readonly tellsExpiry?: boolean;
}

/** A request for a token, as it came. */
export interface Asked {
  readonly form: Readonly<Record<string, string>>;
  readonly by: "basic" | "post" | "none";
  /** The status it was answered with. */
  readonly status: number;
}

export class Issuer {
  readonly tokens: Tokens;
  readonly url: string;
  /** The requests for tokens, in the order in which they came. */
  readonly asked: Asked[] = [];
  /** Every token that was issued, oldest first. */
  readonly issued: string[] = [];
  /** How often its configuration was read. */
  discoveries = 0;
  /** For how long tokens issued from now on are good, in seconds. */
  expiresIn: number;
  readonly #options: IssuerOptions;
  readonly #server: Server;
  #failures: { left: number; readonly status: number } = { left: 0, status: 503 };

  /** Starts to serve on 127.0.0.1. */
  static async start(options: IssuerOptions = {}): Promise<Issuer> {
    const server = createServer().listen(options.port ?? 0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return new Issuer(server, `http://127.0.0.1:${address.port}`, options);
  }

  private constructor(server: Server, url: string, options: IssuerOptions) {
    this.tokens = options.tokens ?? new Tokens();
    this.url = url;
    this.expiresIn = options.expiresIn ?? 3600;
    this.#options = options;
    this.#server = server;
    server.on("request", (request, response) => void this.#answer(request, response));
  }

  /** The next requests, for the configuration or for tokens, are answered with an error; 503 where not said. */
  fail(times: number, status = 503): void {
    this.#failures = { left: times, status };
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", this.url);
    const body = await text(request);
    const call = `${request.method} ${pathname}`;
    if (call === "GET /.well-known/openid-configuration") {
      this.discoveries++;
      if (this.#fails()) reply(response, this.#failures.status, "not now");
      else reply(response, 200, this.#configuration());
    } else if (call === "POST /token") {
      const form = Object.fromEntries(new URLSearchParams(body));
      const by = request.headers.authorization === undefined ? ("client_secret" in form ? "post" : "none") : "basic";
      const status = this.#token(request, response, form);
      this.asked.push({ form, by, status });
    } else {
      reply(response, 404, "no such page");
    }
  }

  #token(request: IncomingMessage, response: ServerResponse, form: Readonly<Record<string, string>>): number {
    if (this.#fails()) return reply(response, this.#failures.status, "not now");
    if (form.grant_type !== "client_credentials") return reply(response, 400, { error: "unsupported_grant_type" });
    const { clientId = "offledger", clientSecret = "secret", tellsExpiry = true } = this.#options;
    const [id, secret] = basicOf(request.headers.authorization) ?? [form.client_id, form.client_secret];
    if (id !== clientId || secret !== clientSecret) return reply(response, 401, { error: "invalid_client" });
    const token = this.tokens.issue({ expiresInMs: this.expiresIn * 1000 });
    this.issued.push(token);
    response.setHeader("cache-control", "no-store");
    const expiry = tellsExpiry ? { expires_in: this.expiresIn } : {};
    return reply(response, 200, { access_token: token, token_type: "Bearer", ...expiry });
  }

  #configuration(): object {
    return {
      issuer: this.url,
      token_endpoint: `${this.url}/token`,
      jwks_uri: `${this.url}/keys`,
      response_types_supported: ["token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
      grant_types_supported: ["client_credentials"],
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
    };
  }

  #fails(): boolean {
    return this.#failures.left-- > 0;
  }
}

/** The two parts of a Basic header, which are form-encoded before they are joined (RFC 6749, 2.3.1). */
function basicOf(header: string | undefined): string[] | undefined {
  const encoded = /^Basic (.+)$/i.exec(header ?? "")?.[1];
  if (encoded === undefined) return undefined;
  const [id = "", secret = ""] = Buffer.from(encoded, "base64").toString().split(":");
  return [id, secret].map((part) => decodeURIComponent(part.replaceAll("+", " ")));
}
