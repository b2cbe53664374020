import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { retryAfter, reject } from "../transport/reject.js";
import type { Guard } from "../transport/server.js";
import { type Verdict, TokenVerifier, type TokenRules } from "./token-verifier.js";
import { IssuerKeys, DEFAULT_KEY_FETCH_LIMITS, type KeyFetchLimits } from "./issuer-keys.js";

export interface AuthenticationOptions extends TokenRules {
  /** Where the issuer publishes its keys. */
  readonly jwksUrl: URL;
  /** Full names of the rpcs that need a token, whichever way they are asked. */
  readonly operations: ReadonlySet<string>;
  /** What is taken for the present, in milliseconds since 1970. */
  readonly now: () => number;
  readonly patience?: KeyFetchLimits;
}

/** By RFC 6750 a challenge has a parameter at least. */
const CHALLENGE = 'Bearer realm="offledger"';
const AWAY = "tokens cannot be checked at present, because the keys of their issuer cannot be had; ask again";
const NONE = "this operation needs a bearer token in the header Authorization";
const SEVERAL = "the request has several Authorization headers, and may have one";

/**
 * Lets nobody ask a chosen operation without a token that is good. Nothing of a
 * token is kept in the request, logged, or told to anybody.
 */
export function bearerAuthentication(options: AuthenticationOptions): Guard {
  return (server, log) => {
    const keys = new IssuerKeys(options.jwksUrl, log, options.patience);
    const tokens = new TokenVerifier(keys, options, options.now);
    const retrySeconds = Math.ceil((options.patience ?? DEFAULT_KEY_FETCH_LIMITS).pause / 1000);
    const errorOf = (verdict: Verdict): ConnectError | undefined => {
      if (verdict === "good") return undefined;
      return verdict === "unknown" ? retryAfter(Code.Unavailable, AWAY, retrySeconds) : invalid(verdict.wrong);
    };
    server.addHook("onRequest", (request, reply, done) => {
      if (!options.operations.has(request.routeOptions.config.operation ?? "")) return done();
      const token = tokenOf(request);
      if (token instanceof ConnectError) return reject(request, reply, token);
      const decide = (verdict: Verdict) => {
        const error = errorOf(verdict);
        if (error === undefined) done();
        else reject(request, reply, error);
      };
      const found = tokens.check(token);
      if (!(found instanceof Promise)) return decide(found);
      void found.then((verdict) => (hasGone(reply) ? forget(request, reply) : decide(verdict)));
    });
    server.addHook("onClose", (_server, done) => {
      keys.stop();
      done();
    });
    // The first caller need not wait for them, and the operator sees at the start what is wrong.
    keys.prefetch();
  };
}

/** The token that a request brings, or why it brings none. */
function tokenOf({ raw }: FastifyRequest): string | ConnectError {
  const { authorization } = raw.headers;
  if (authorization === undefined) return refusal(NONE, CHALLENGE);
  // Only the first is in the headers: a proxy in front may have looked at another.
  const count = raw.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "authorization").length;
  if (count > 1) return invalid(SEVERAL);
  const token = /^bearer +([^ ]+) *$/i.exec(authorization)?.[1];
  if (token !== undefined) return token;
  return /^bearer(?: |$)/i.test(authorization) ? invalid("there is no token behind Bearer") : refusal(NONE, CHALLENGE);
}

function invalid(wrong: string): ConnectError {
  return refusal(wrong, `${CHALLENGE}, error="invalid_token", error_description="${wrong}"`);
}

function refusal(message: string, challenge: string): ConnectError {
  return new ConnectError(message, Code.Unauthenticated, { "www-authenticate": challenge });
}

/** Whether nobody waits for the answer any more: over HTTP/2 the stream tells. */
function hasGone({ raw }: FastifyReply): boolean {
  const { stream } = raw as { readonly stream?: { readonly destroyed: boolean } };
  return stream?.destroyed ?? raw.destroyed;
}

function forget(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  request.record.end(Code.Canceled);
}
