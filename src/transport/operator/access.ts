/** Access to the operator's port: by a token, or from this machine alone. */
import { createHash, timingSafeEqual } from "node:crypto";
import { BlockList, isIP, isIPv6 } from "node:net";
import type { ConnectError } from "@connectrpc/connect";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { formatValue } from "../../domain/errors.js";
import { FileError, readTextFile, ReloadedFiles } from "../../util/reloaded-files.js";
import { rejection } from "../errors.js";
import { invalidToken, readBearerToken, reject } from "../reject.js";
import type { RootPlugin } from "../server.js";

const VARIABLE = "OFFLEDGER_OPERATOR_TOKEN_FILE";

/** Created once, because errors are expensive. */
const NOT_LOOPBACK = rejection(
  "ACCESS_DENIED",
  `this is served to operators only: set ${VARIABLE}, or bind the operator's port to a loopback address`,
);

/**
 * Rejects requests of others than the operator. With a token every request must have it, except those to `openPaths`,
 * which are paths of routes. Without one only they are open to other machines.
 */
export function operatorAccess(token: OperatorToken | undefined, openPaths: readonly string[]): RootPlugin {
  const open = new Set(openPaths);
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
    return isSame(expected, token) ? undefined : invalidToken("token is not the one of the operator");
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

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8);
LOOPBACK.addAddress("::1", "ipv6");

/** Whether an IPv4 or IPv6 address is reached from this machine only; also for IPv4 in the form of IPv6. */
const isLoopback = (address: string): boolean =>
  isIP(address) !== 0 && LOOPBACK.check(address, isIPv6(address) ? "ipv6" : "ipv4");

/** Returns whether all addresses of a server are reached from this machine only; false before it listens. */
function boundToLoopback(server: FastifyInstance): () => boolean {
  let result = false;
  // A name such as localhost may have several addresses. This hook runs when all are bound.
  server.addHook("onListen", (done) => {
    const addresses = server.addresses();
    result = addresses.every((bound) => typeof bound !== "string" && isLoopback(bound.address));
    done();
  });
  return () => result;
}

/**
 * Whether a Host header, or an :authority, names this machine itself. A page of another site may have its own name
 * resolve to 127.0.0.1 (DNS rebinding), and the browser then sends that name.
 */
function isLoopbackHost(host: string): boolean {
  const [, inBrackets, name = ""] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::\d{1,5})?$/.exec(host) ?? [];
  return name.toLowerCase() === "localhost" || isLoopback(inBrackets ?? name);
}

const MIN_CHARACTERS = 16;

/** The digest of the token of operators, reloaded when its file changes. */
type OperatorToken = ReloadedFiles<Buffer>;

/** Throws FileError if the file cannot be read, or has no token of 16 characters. */
export const readOperatorToken = (path: string): Promise<OperatorToken> =>
  ReloadedFiles.load("operator token", [path], async () => {
    const token = (await readTextFile(path)).trim();
    if (token.length < MIN_CHARACTERS) throw new FileError(`the token in ${path} has ${token.length} characters`);
    // A header cannot carry others.
    if (!/^[!-~]+$/.test(token)) throw new FileError(`the token in ${path} has spaces, or is not ASCII`);
    return digestOf(token);
  });

const digestOf = (token: string): Buffer => createHash("sha256").update(token).digest();

/** In constant time: the time says nothing about the token, not even its length. */
const isSame = (expected: OperatorToken, token: string): boolean => timingSafeEqual(digestOf(token), expected.value);
