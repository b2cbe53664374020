/** Access tokens that a participant takes until they end or are revoked. */
import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";

export interface TokenOptions {
  /** An hour where not said; below 0 for one that has ended. */
  readonly expiresInMs?: number;
  /** The parties that may be read with it; all where not said. */
  readonly parties?: readonly string[];
}

interface Issued {
  readonly expiresAt: number;
  readonly parties: readonly string[] | undefined;
}

export class Tokens {
  readonly #issued = new Map<string, Issued>();
  readonly #events = new EventEmitter<{ revoked: [string] }>().setMaxListeners(0);

  /** A new token, of the form of a JWT; none has its signature checked. */
  issue({ expiresInMs = 3_600_000, parties }: TokenOptions = {}): string {
    const expiresAt = Date.now() + expiresInMs;
    const claims = { sub: "offledger", aud: "ledger", jti: randomUUID(), exp: Math.floor(expiresAt / 1000) };
    const token = [{ alg: "none", typ: "JWT" }, claims, { not: "signed" }].map(encode).join(".");
    this.#issued.set(token, { expiresAt, parties });
    return token;
  }

  /** Whether a token is good now. */
  accepts(token: string | undefined): token is string {
    return token !== undefined && this.endOf(token) > Date.now();
  }

  /** When a token ends, in milliseconds since 1970; 0 where it is none of these, or revoked. */
  endOf(token: string): number {
    return this.#issued.get(token)?.expiresAt ?? 0;
  }

  /** Whether a token lets its bearer read a party's contracts. */
  mayRead(token: string, party: string): boolean {
    return this.#issued.get(token)?.parties?.includes(party) ?? true;
  }

  /** From now on the token is refused, and streams opened with it are cut. */
  revoke(token: string): void {
    this.#issued.delete(token);
    this.#events.emit("revoked", token);
  }

  /** Calls a listener for every token that is revoked, until it is taken off. */
  listen(revoked: (token: string) => void): () => void {
    this.#events.on("revoked", revoked);
    return () => void this.#events.off("revoked", revoked);
  }
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
