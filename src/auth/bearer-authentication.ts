import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { refusal } from "../transport/error-details.js";
import { reject } from "../transport/reject.js";
import type { Guard } from "../transport/server.js";
import { DEFAULT_KEY_FETCH_LIMITS, IssuerKeys, type KeyFetchLimits } from "./issuer-keys.js";
import { type TokenRules, TokenVerifier, type Verdict } from "./token-verifier.js";

export interface AuthenticationOptions extends TokenRules {
  readonly jwksUrl: URL;
  /** Full names of the operations that need a token, on every protocol. */
  readonly operations: ReadonlySet<string>;
  /** In milliseconds since 1970. */
  readonly now: () => number;
  readonly keyFetchLimits?: KeyFetchLimits;
}

/** RFC 6750 requires a parameter in a challenge. */
const CHALLENGE = 'Bearer realm="offledger"';
const KEYS_UNAVAILABLE = "token cannot be verified: the keys of its issuer are unavailable; retry later";
const MISSING_TOKEN = "bearer token required in the Authorization header";

/** Rejects protected operations without a valid bearer token. No part of a token is stored, logged or returned. */
export function bearerAuthentication(options: AuthenticationOptions): Guard {
  const { operations, keyFetchLimits = DEFAULT_KEY_FETCH_LIMITS } = options;
  const retrySeconds = Math.ceil(keyFetchLimits.retryMs / 1000);
  return (server, log) => {
    const keys = new IssuerKeys(options.jwksUrl, log, keyFetchLimits);
    const verifier = new TokenVerifier(keys, options, options.now);
    server.addHook("onRequest", (request, reply, done) => {
      if (!operations.has(request.routeOptions.config.operation ?? "")) return done();
      const token = readToken(request);
      if (token instanceof ConnectError) return reject(request, reply, token);
      const apply = (verdict: Verdict) => {
        const error = toError(verdict, retrySeconds);
        if (error === undefined) done();
        else reject(request, reply, error);
      };
      const verdict = verifier.verify(token);
      if (!(verdict instanceof Promise)) return apply(verdict);
      void verdict.then((late) => (isClosed(reply) ? abandon(request, reply) : apply(late)));
    });
    server.addHook("onClose", (_server, done) => {
      keys.stop();
      done();
    });
    // The first request need not wait, and the log shows a wrong URL at startup.
    keys.prefetch();
  };
}

function toError(verdict: Verdict, retrySeconds: number): ConnectError | undefined {
  switch (verdict.status) {
    case "valid":
      return undefined;
    case "invalid":
      return invalidToken(verdict.reason);
    case "unavailable":
      return refusal("ISSUER_UNAVAILABLE", KEYS_UNAVAILABLE, { retrySeconds });
  }
}

function readToken({ raw }: FastifyRequest): string | ConnectError {
  const { authorization } = raw.headers;
  if (authorization === undefined) return missingToken();
  // `headers` has only the first: a proxy may have checked another.
  const count = raw.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "authorization").length;
  if (count > 1) return invalidToken("request has more than one Authorization header");
  const token = /^bearer +([^ ]+) *$/i.exec(authorization)?.[1];
  if (token !== undefined) return token;
  return /^bearer(?: |$)/i.test(authorization) ? invalidToken("no token after Bearer") : missingToken();
}

function invalidToken(reason: string): ConnectError {
  const challenge = `${CHALLENGE}, error="invalid_token", error_description="${reason}"`;
  return refusal("TOKEN_INVALID", reason, { headers: { "www-authenticate": challenge } });
}

function missingToken(): ConnectError {
  return refusal("TOKEN_MISSING", MISSING_TOKEN, { headers: { "www-authenticate": CHALLENGE } });
}

/** Whether the client is gone. Over HTTP/2 only the stream knows. */
function isClosed({ raw }: FastifyReply): boolean {
  const { stream } = raw as { readonly stream?: { readonly destroyed: boolean } };
  return stream?.destroyed ?? raw.destroyed;
}

function abandon(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  request.record.complete(Code.Canceled);
}
