/** An OpenID Connect issuer for tests: discovery and a token endpoint for client credentials. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { reply } from "./http.js";
import { Tokens } from "./tokens.js";

export interface IssuerOptions {
  /** The tokens of the participant that accepts them. Default: a new set. */
  readonly tokens?: Tokens;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default "offledger". */
  readonly clientId?: string;
  /** Default "secret". */
  readonly clientSecret?: string;
  /** Lifetime of tokens in seconds. Default 3600. */
  readonly expiresIn?: number;
  /** Whether the response has expires_in. Default true. */
  readonly tellsExpiry?: boolean;
}

export interface Asked {
  readonly form: Readonly<Record<string, string>>;
  readonly by: "basic" | "post" | "none";
  readonly status: number;
}

export class Issuer {
  readonly tokens: Tokens;
  readonly url: string;
  readonly asked: Asked[] = [];
  readonly issued: string[] = [];
  discoveries = 0;
  expiresIn: number;
  readonly #options: IssuerOptions;
  readonly #server: Server;
  #failures: { left: number; readonly status: number } = { left: 0, status: 503 };

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

  /** Rejects the next requests, for discovery or tokens; default status 503. */
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

/** The client id and secret of a Basic header, form-encoded (RFC 6749 section 2.3.1). */
function basicOf(header: string | undefined): string[] | undefined {
  const encoded = /^Basic (.+)$/i.exec(header ?? "")?.[1];
  if (encoded === undefined) return undefined;
  const [id = "", secret = ""] = Buffer.from(encoded, "base64").toString().split(":");
  return [id, secret].map((part) => decodeURIComponent(part.replaceAll("+", " ")));
}
