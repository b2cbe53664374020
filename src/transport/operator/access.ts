import { createHash, timingSafeEqual } from "node:crypto";
import { unwatchFile, watchFile } from "node:fs";
import { readFile } from "node:fs/promises";
import type { ConnectError } from "@connectrpc/connect";
import type { FastifyInstance, FastifyRequest } from "fastify";
import ipaddr from "ipaddr.js";
import { formatValue } from "../../domain/errors.js";
import type { Logger } from "../../util/logger.js";
import { invalidToken, readBearerToken } from "../bearer-token.js";
import { rejection } from "../errors.js";
import { reject } from "../reject.js";
import type { Guard } from "../server.js";

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
export function operatorAccess(token: OperatorToken | undefined, openPaths: readonly string[]): Guard {
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

/** Whether an IPv4 or IPv6 address is reached from this machine only; also for IPv4 in the form of IPv6. */
const isLoopback = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";

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
  if (inBrackets !== undefined) return isLoopback(inBrackets);
  // ipaddr.js also takes octal and abbreviated IPv4 addresses.
  return name.toLowerCase() === "localhost" || (ipaddr.IPv4.isValidFourPartDecimal(name) && isLoopback(name));
}

const POLL_MS = 1_000;
const MIN_CHARACTERS = 16;

/** The message contains nothing of the token. */
export class OperatorTokenError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "OperatorTokenError";
  }
}

/** The token of operators, reloaded when its file changes. Until the new file has a token, the previous one is accepted. */
export class OperatorToken {
  readonly #path: string;
  #digest: Buffer;
  #onFileChange: (() => void) | undefined;

  /** Throws OperatorTokenError if the file cannot be read, or has no token of 16 characters. */
  static async read(path: string): Promise<OperatorToken> {
    return new OperatorToken(path, await readDigest(path));
  }

  private constructor(path: string, digest: Buffer) {
    this.#path = path;
    this.#digest = digest;
  }

  /** Compares digests in constant time: the time says nothing about the token, not even its length. */
  accepts(token: string): boolean {
    return timingSafeEqual(digestOf(token), this.#digest);
  }

  /** Polls the file until `close`. */
  watch(log: Logger): void {
    const reload = () => {
      readDigest(this.#path).then(
        (digest) => {
          if (digest.equals(this.#digest)) return;
          this.#digest = digest;
          log.info({ path: this.#path }, "operator token reloaded");
        },
        (error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error);
          log.error({ reason }, "operator token reload failed; still accepting the previous one");
        },
      );
    };
    this.#onFileChange = reload;
    watchFile(this.#path, { interval: POLL_MS }, reload);
    // The file may have changed since it was read.
    reload();
  }

  close(): void {
    if (this.#onFileChange !== undefined) unwatchFile(this.#path, this.#onFileChange);
  }
}

async function readDigest(path: string): Promise<Buffer> {
  let token: string;
  try {
    token = (await readFile(path, "utf8")).trim();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw new OperatorTokenError(`${path} cannot be read (${code})`);
  }
  if (token.length < MIN_CHARACTERS)
    throw new OperatorTokenError(`the token in ${path} has ${token.length} characters`);
  // A header cannot carry others.
  if (!/^[!-~]+$/.test(token)) throw new OperatorTokenError(`the token in ${path} has spaces, or is not ASCII`);
  return digestOf(token);
}

const digestOf = (token: string): Buffer => createHash("sha256").update(token).digest();
