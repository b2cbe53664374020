import type { ConnectError } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import { formatValue } from "../../domain/errors.js";
import { invalidToken, readBearerToken } from "../bearer-token.js";
import { rejection } from "../errors.js";
import { reject } from "../reject.js";
import type { Guard } from "../server.js";
import { EXPOSITION_PATHS } from "./exposition-routes.js";
import { boundToLoopback, isLoopbackHost } from "./loopback.js";
import type { OperatorToken } from "./token.js";

const VARIABLE = "OFFLEDGER_OPERATOR_TOKEN_FILE";

/** Created once, because errors are expensive. */
const NOT_LOOPBACK = rejection(
  "ACCESS_DENIED",
  `this is served to operators only: set ${VARIABLE}, or bind the operator's port to a loopback address`,
);

/**
 * Rejects requests of others than the operator. With a token every request must have it, except those to `openPaths`,
 * which are paths of routes. Without one the exposition is open, and all else is for this machine only.
 */
export function operatorAccess(token: OperatorToken | undefined, openPaths: readonly string[]): Guard {
  const open = new Set(token === undefined ? EXPOSITION_PATHS : openPaths);
  return (server) => {
    const isLocal = boundToLoopback(server);
    const check = token === undefined ? (request: FastifyRequest) => checkLocal(request, isLocal()) : checkToken(token);
    server.addHook("onRequest", (request, reply, done) => {
      // The route as the router found it: a path has many spellings.
      const { url: route } = request.routeOptions;
      const error = route !== undefined && open.has(route) ? undefined : check(request);
      if (error === undefined) done();
      else reject(request, reply, error);
    });
  };
}

const checkToken =
  (expected: OperatorToken) =>
  (request: FastifyRequest): ConnectError | undefined => {
    const token = readBearerToken(request);
    if (typeof token !== "string") return token;
    return expected.accepts(token) ? undefined : invalidToken("token is not the one of the operator");
  };

function checkLocal({ raw }: FastifyRequest, isLocal: boolean): ConnectError | undefined {
  if (!isLocal) return NOT_LOOPBACK;
  const host = String(raw.headers[":authority"] ?? raw.headers.host ?? "");
  if (isLoopbackHost(host)) return undefined;
  const message =
    `the host of the request must be localhost, an address in 127.0.0.0/8, or [::1], but is ${formatValue(host)}; ` +
    `set ${VARIABLE} for other names`;
  return rejection("ACCESS_DENIED", message);
}
