import type { ConnectError } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import { boundedMemoize } from "../util/memoize.js";
import { rejection } from "./errors.js";

/** RFC 6750 requires a parameter in a challenge. */
const CHALLENGE = 'Bearer realm="offledger"';
const MISSING_TOKEN = "bearer token required in the Authorization header";

/** The token of the Authorization header, or the error to reject the request with. */
export function readBearerToken({ raw }: FastifyRequest): string | ConnectError {
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
export const invalidToken = boundedMemoize((reason) => {
  const challenge = `${CHALLENGE}, error="invalid_token", error_description="${reason}"`;
  return rejection("TOKEN_INVALID", reason, { headers: { "www-authenticate": challenge } });
});

const missingToken = rejection("TOKEN_MISSING", MISSING_TOKEN, { headers: { "www-authenticate": CHALLENGE } });
