import type { Http2ServerRequest } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { invalidToken, readBearerToken } from "../transport/bearer-token.js";
import { refusal } from "../transport/errors/error-details.js";
import { reject } from "../transport/errors/reject.js";
import type { Guard } from "../transport/server.js";
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

const KEYS_UNAVAILABLE = "token cannot be verified: the keys of its issuer are unavailable; retry later";
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
      const token = readBearerToken(request);
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
