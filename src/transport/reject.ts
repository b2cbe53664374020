/** Rejects requests before their operation is called, and reads the tokens that they are rejected for. */
import { Code, type ConnectError } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { boundedMemoize } from "../util/memoize.js";
import { abandonBody, drainBody } from "./bodies.js";
import { rejection, type RestError, toRestError } from "./errors.js";
import { sendRpcError } from "./rpc/errors.js";
import { protocolOf } from "./rpc/media-types.js";

/** Rejects a request before its operation is called, in the form of its protocol, and drains its body up to a bound. */
export function reject(request: FastifyRequest, reply: FastifyReply, error: ConnectError): void {
  const { record, raw } = request;
  record.protocol = protocolOf(request);
  if (error.code === Code.Unavailable && raw.httpVersionMajor === 1) abandonBody(raw);
  else void drainBody(raw);
  if (record.protocol !== "rest") return sendRpcError(request, reply, error);
  record.complete(error.code);
  void sendRestError(reply, toRestError(error, pathOf(request)));
}

export async function sendRestError(reply: FastifyReply, { status, headers, body }: RestError): Promise<void> {
  await reply.code(status).headers(headers).type("application/json").send(JSON.stringify(body));
}

/** The path of the matched route, or the requested path as the router normalises it. Selects the form of an error. */
export function pathOf({ routeOptions, url }: FastifyRequest): string {
  return routeOptions.url ?? url.replaceAll(/\/{2,}/g, "/");
}

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
