/** The access tokens that a participant accepts, and the token of a call. */
import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import { refusal } from "./errors.js";

/** A right of a user: its kind, and its party if it is of one. */
export type Right = readonly [kind: string, party?: string];

const ofReading: ReadonlySet<string> = new Set(["CanReadAs", "CanActAs"]);

interface TokenOptions {
  /** Default one hour. Negative for an expired token. */
  readonly expiresInMs?: number;
  /** The parties it may read as. Default: all. */
  readonly parties?: readonly string[];
  /** Its user's. Default: to read as its parties. */
  readonly rights?: readonly Right[];
  /** Whether the participant knows the user. Default true. */
  readonly hasUser?: boolean;
}

interface Issued {
  readonly expiresAt: number;
  readonly hasUser: boolean;
  rights: readonly Right[];
}

/** The user of every token. */
export const USER = "off ledger@#1";

export class Tokens {
  readonly #issued = new Map<string, Issued>();
  readonly #events = new EventEmitter<{ revoked: [string] }>().setMaxListeners(0);

  /** Issues a token in the form of a JWT. Signatures are not checked. */
  issue({ expiresInMs = 3_600_000, parties, hasUser = true, ...options }: TokenOptions = {}): string {
    const expiresAt = Date.now() + expiresInMs;
    const claims = { sub: USER, aud: "ledger", jti: randomUUID(), exp: Math.floor(expiresAt / 1000) };
    const token = [{ alg: "none", typ: "JWT" }, claims, { not: "signed" }].map(encode).join(".");
    const { rights = parties?.map((party): Right => ["CanReadAs", party]) ?? [["CanReadAsAnyParty"]] } = options;
    this.#issued.set(token, { expiresAt, hasUser, rights });
    return token;
  }

  accepts(token: string | undefined): token is string {
    return token !== undefined && this.endOf(token) > Date.now();
  }

  /** When a token expires, in milliseconds since 1970; 0 if it is unknown or revoked. */
  endOf(token: string): number {
    return this.#issued.get(token)?.expiresAt ?? 0;
  }

  hasUser(token: string): boolean {
    return this.#issued.get(token)?.hasUser ?? false;
  }

  /** Whether its user may read as a party, or as any. */
  mayRead(token: string, party: string): boolean {
    return this.rights(token).some(
      ([kind, of]) => kind === "CanReadAsAnyParty" || (ofReading.has(kind) && of === party),
    );
  }

  rights(token: string): readonly Right[] {
    return this.#issued.get(token)?.rights ?? [];
  }

  /** Changes the rights of a token's user, which ends its streams. */
  change(token: string, ...rights: readonly Right[]): void {
    const issued = this.#issued.get(token);
    if (issued === undefined) throw new Error("no such token");
    issued.rights = rights;
    this.#events.emit("revoked", token);
  }

  /** Revokes a token and cuts the streams opened with it. */
  revoke(token: string): void {
    this.#issued.delete(token);
    this.#events.emit("revoked", token);
  }

  /** Calls a listener for every revoked token. Returns a function that removes it. */
  listen(revoked: (token: string) => void): () => void {
    this.#events.on("revoked", revoked);
    return () => void this.#events.off("revoked", revoked);
  }
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");

/** The only subprotocol that the server selects, offered or not. */
export const AUTH_PROTOCOL = "daml.ws.auth";
const TOKEN_PROTOCOL = "jwt.token.";

/** The token of the Authorization header or, on a WebSocket, of the first subprotocol. One in second place is not seen. */
export function tokenOf({ headers }: IncomingMessage): string | undefined {
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1];
  if (bearer !== undefined) return bearer;
  const [first = ""] = protocolsOf(headers["sec-websocket-protocol"]);
  return first.startsWith(TOKEN_PROTOCOL) ? first.slice(TOKEN_PROTOCOL.length) : undefined;
}

export function protocolsOf(header: string | undefined): string[] {
  return (header ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** Throws a Refusal if a token is required and this one is not valid. */
export function checkToken(tokens: Tokens | undefined, token: string | undefined): void {
  checkUser(tokens, token);
  if (tokens === undefined || tokens.accepts(token)) return;
  throw refusal("UNAUTHENTICATED", "The submitted request is missing or has an invalid token");
}

/** Throws a Refusal if the token is valid, and names a user that the participant does not have. */
export function checkUser(tokens: Tokens | undefined, token: string | undefined): void {
  if (tokens === undefined || !tokens.accepts(token) || tokens.hasUser(token)) return;
  throw refusal("PERMISSION_DENIED", "unknown user", { context: { ledger_api_error: "invalid token" } });
}
