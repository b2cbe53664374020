import type { Http2ServerRequest } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { refusal } from "../transport/error-details.js";
import { reject } from "../transport/reject.js";
import type { Guard } from "../transport/server.js";
import { boundedMemoize } from "../util/bounded-memoize.js";
import { DEFAULT_KEY_FETCH_LIMITS, IssuerKeys, type KeyFetchLimits } from "./issuer-keys.js";
import { PacedRejections } from "./paced-rejections.js";
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
const TOO_MANY_TOKENS = "too many tokens are being verified; retry later";
/** The verifications of a full queue take less. */
const OVERLOAD_RETRY_SECONDS = 1;

/** Rejects protected operations without a valid bearer token. No part of a token is stored, logged or returned. */
export function bearerAuthentication(options: AuthenticationOptions): Guard {
  const { operations, keyFetchLimits = DEFAULT_KEY_FETCH_LIMITS } = options;
  const retrySeconds = Math.ceil(keyFetchLimits.retryMs / 1000);
  const unavailable = refusal("ISSUER_UNAVAILABLE", KEYS_UNAVAILABLE, { retrySeconds });
  const overloaded = refusal("OVERLOADED", TOO_MANY_TOKENS, { retrySeconds: OVERLOAD_RETRY_SECONDS });
  const toError = (verdict: Verdict): ConnectError | undefined => {
    switch (verdict.status) {
      case "valid":
        return undefined;
      case "invalid":
        return invalidToken(verdict.reason);
      case "unavailable":
        return unavailable;
      case "overloaded":
        return overloaded;
    }
  };
  return (server, log) => {
    const keys = new IssuerKeys(options.jwksUrl, log, keyFetchLimits);
    const verifier = new TokenVerifier(keys, options, options.now);
    const rejections = new PacedRejections();
    server.addHook("onRequest", (request, reply, done) => {
      if (!operations.has(request.routeOptions.config.operation ?? "")) return done();
      const refuse = (error: ConnectError) =>
        rejections.run(() => (isClosed(reply) ? abandon(request, reply) : reject(request, reply, error)));
      const token = readToken(request);
      if (token instanceof ConnectError) return refuse(token);
      const apply = (verdict: Verdict) => {
        const error = toError(verdict);
        if (error === undefined) done();
        else refuse(error);
      };
      const verdict = verifier.verify(token, connectionOf(request));
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

function readToken({ raw }: FastifyRequest): string | ConnectError {
  const { authorization } = raw.headers;
  if (authorization === undefined) return missingToken;
  // `headers` has only the first: a proxy may have checked another.
  const count = raw.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "authorization").length;
  if (count > 1) return invalidToken("request has more than one Authorization header");
  const token = /^bearer +([^ ]+) *$/i.exec(authorization)?.[1];
  if (token !== undefined) return token;
  return /^bearer(?: |$)/i.test(authorization) ? invalidToken("no token after Bearer") : missingToken;
}

/** Memoized, because errors are expensive: a flood of invalid tokens must not be. There are few reasons. */
const invalidToken = boundedMemoize((reason) => {
  const challenge = `${CHALLENGE}, error="invalid_token", error_description="${reason}"`;
  return refusal("TOKEN_INVALID", reason, { headers: { "www-authenticate": challenge } });
});

const missingToken = refusal("TOKEN_MISSING", MISSING_TOKEN, { headers: { "www-authenticate": CHALLENGE } });

/** The same object for all requests of a connection. */
function connectionOf({ raw }: FastifyRequest): object {
  const { stream } = raw as unknown as Partial<Http2ServerRequest>;
  return stream?.session ?? raw.socket;
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
