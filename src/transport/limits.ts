/** The limits of a connection, as options of Node.js, and those of the process: four budgets. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerResponse, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import type { ConnectError } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import type { Origins } from "./cors.js";
import { rejection } from "./errors.js";

/** docs/security.md describes the settings of the same names. */
export interface ConnectionLimits {
  readonly maxHeaderBytes: number;
  /** Milliseconds from the first byte of a request to its last. */
  readonly requestMs: number;
  /** Further connections are closed at once. */
  readonly maxConnections: number;
  /** Concurrent requests on one HTTP/2 connection. */
  readonly maxStreams: number;
  /** Milliseconds that the requests of one turn of the event loop may take together; without it any. */
  readonly turnMs?: number;
  /** Milliseconds until the HTTP version of a connection is known. */
  readonly negotiationMs?: number;
  /** Milliseconds that a connection may stay without a request. */
  readonly idleMs?: number;
  /** Milliseconds in which a client may take nothing of its response. */
  readonly stalledMs?: number;
  /** Pages of these origins may read what a connection answers by itself; none by default. */
  readonly corsOrigins?: Origins;
}

export const NEGOTIATION_MS = 10_000;
/** Longer than the keep-alive of proxies, so that the proxy closes first and no request is lost. */
export const IDLE_MS = 72_000;
export const STALLED_MS = 20_000;

export const timeoutMessage = (requestMs: number): string => `request not received within ${requestMs / 1000} seconds`;

/** An amount that all requests of the process share, in bytes or as a number. */
export class Budget {
  #used = 0;
  #refused = 0;

  constructor(readonly limit: number) {}

  get used(): number {
    return this.#used;
  }

  /** How often something was refused because the budget was used up. */
  get refused(): number {
    return this.#refused;
  }

  tryTake(amount: number): boolean {
    if (this.#used + amount > this.limit) {
      this.#refused++;
      return false;
    }
    this.#used += amount;
    return true;
  }

  /** Takes an amount that exists already, even beyond the limit. */
  take(amount: number): void {
    this.#used += amount;
  }

  release(amount: number): void {
    this.#used -= amount;
  }

  /** Counts what somebody else refuses on its behalf. */
  refuse(): void {
    this.#refused++;
  }

  /** Whether more than `amount` is used. A true answer counts as a refusal. */
  refusesBeyond(amount: number): boolean {
    if (this.#used <= amount) return false;
    this.#refused++;
    return true;
  }
}

/** Undefined: what fits the memory of the process. */
export interface BudgetLimits {
  readonly bodyMegabytes?: number;
  readonly responseMegabytes?: number;
  readonly requests?: number | undefined;
  readonly streams?: number | undefined;
}

/** The limits of the process as a whole. Every other limit is one of a request or a connection. */
export interface Budgets {
  /** Bytes of request bodies that are being received. */
  readonly bodies: Budget;
  /** Bytes of responses that clients have not taken yet. */
  readonly responses: Budget;
  /** Requests that have arrived and whose response is not closed. */
  readonly requests: Budget;
  /** Memory of streams of changes, in that of one by REST: see `STREAM_UNITS`. */
  readonly streams: Budget;
}

/** connect-es keeps 67 KB for a stream, the handler of REST 21. */
export const STREAM_UNITS = { rest: 1, rpc: 3 } as const;

const MIB = 1024 * 1024;
/** Divisors of the memory for the budgets of bodies and responses. A body may leave twice its bytes to be collected. */
const BODY_SHARE = 16;
const RESPONSE_SHARE = 8;
const MAX_BYTES = 512 * MIB;
const MIN_BYTES = 16 * MIB;
/** A request under way, and a unit of streams, take some 20 KB of the heap, so that all of each may take a third of it. */
const HEAP_BYTES_PER_REQUEST = 64 * 1024;
const MAX_REQUESTS = 20_000;

export function createBudgets({ bodyMegabytes, responseMegabytes, requests, streams }: BudgetLimits = {}): Budgets {
  const { heap_size_limit: heap } = getHeapStatistics();
  const memory = memoryLimit(heap);
  const share = (parts: number) => Math.min(MAX_BYTES, Math.max(MIN_BYTES, Math.floor(memory / parts)));
  return {
    bodies: new Budget(bodyMegabytes === undefined ? share(BODY_SHARE) : bodyMegabytes * MIB),
    responses: new Budget(responseMegabytes === undefined ? share(RESPONSE_SHARE) : responseMegabytes * MIB),
    requests: new Budget(requests ?? Math.min(MAX_REQUESTS, Math.floor(heap / HEAP_BYTES_PER_REQUEST))),
    streams: new Budget(streams ?? Math.floor(heap / HEAP_BYTES_PER_REQUEST)),
  };
}

/** What an idle connection takes, with HTTP/2, in bytes. OpenSSL keeps most of it outside of the heap. */
const CONNECTION_BYTES = { cleartext: 20 * 1024, tls: 60 * 1024 };
const CONNECTION_SHARE = 3;

/** The number of connections that fits the memory of the process. */
export function fittingConnections(over: "cleartext" | "tls"): number {
  const { heap_size_limit: heap } = getHeapStatistics();
  return Math.floor(memoryLimit(heap) / CONNECTION_SHARE / CONNECTION_BYTES[over]);
}

/**
 * The memory that the process may use, in bytes: the limit of its container, or all of the machine; twice the heap where
 * that is less. An operator gives half of a container to the heap.
 */
function memoryLimit(heap: number): number {
  // 0 or a huge number without a limit, as the version of Node.js has it.
  const constrained = process.constrainedMemory();
  return Math.min(totalmem(), 2 * heap, constrained > 0 ? constrained : Infinity);
}

/** Created once, because errors are expensive. */
const TOO_MANY_REQUESTS = rejection("OVERLOADED", "too many requests are under way; retry later");
const TOO_MANY_RESPONSES = rejection("OVERLOADED", "too many responses wait for their clients; retry later");

/** Why no request is served; undefined if it is. A request counts from its arrival. Health requests are not asked. */
export function budgetError({ requests, responses }: Budgets): ConnectError | undefined {
  if (requests.refusesBeyond(requests.limit)) return TOO_MANY_REQUESTS;
  return responseBudgetError({ responses });
}

/** Why no further response is made: many requests of one connection arrive before the first response. */
export const responseBudgetError = ({ responses }: Pick<Budgets, "responses">): ConnectError | undefined =>
  responses.refusesBeyond(responses.limit - 1) ? TOO_MANY_RESPONSES : undefined;

/** What one request takes of the budgets, until its response is closed. */
export class Usage {
  readonly budgets: Budgets;
  readonly #response: ServerResponse;
  #responseBytes = 0;
  #isCounted = true;
  #isOver = false;

  /** `onOver` is called once, when the response is closed. */
  constructor(budgets: Budgets, request: IncomingMessage, response: ServerResponse, onOver: () => void) {
    this.budgets = budgets;
    this.#response = response;
    budgets.requests.take(1);
    whenOver(request, response, () => {
      if (this.#isOver) return;
      this.#end();
      onOver();
    });
  }

  holdResponse(bytes: number): void {
    if (this.#isOver) return;
    this.#responseBytes += bytes;
    this.budgets.responses.take(bytes);
  }

  get isStream(): boolean {
    return !this.#isCounted;
  }

  /** The response is a stream without end, which counts towards the limit of streams and no longer as a request. */
  becomeStream(): void {
    if (this.#isOver || !this.#isCounted) return;
    this.#isCounted = false;
    this.budgets.requests.release(1);
    const stream = streamOf(this.#response);
    if (stream !== undefined) endless.add(stream);
  }

  #end(): void {
    this.#isOver = true;
    if (this.#isCounted) this.budgets.requests.release(1);
    this.budgets.responses.release(this.#responseBytes);
  }
}

const endless = new WeakSet<ServerHttp2Stream>();

/** Whether the response lasts as long as its handler likes. */
export const isEndless = (stream: ServerHttp2Stream): boolean => endless.has(stream);

function streamOf(response: ServerResponse): ServerHttp2Stream | undefined {
  const { stream } = response as unknown as Partial<Http2ServerResponse>;
  return stream;
}

const underWay = new WeakMap<Socket, Set<() => void>>();

/** Node.js does not close the responses that wait behind another on a connection of HTTP/1.1 that ends. */
function whenOver({ socket }: IncomingMessage, response: ServerResponse, end: () => void): void {
  if (streamOf(response) !== undefined) {
    response.once("close", end);
    return;
  }
  let ends = underWay.get(socket);
  if (ends === undefined) {
    const all = new Set<() => void>();
    underWay.set(socket, (ends = all));
    socket.once("close", () => all.forEach((one) => one()));
  }
  const others = ends.add(end);
  response.once("close", () => {
    others.delete(end);
    end();
  });
}

/** Whether a connection of HTTP/1.1 has a request whose response is not complete. */
export const isServing = (socket: Socket): boolean => (underWay.get(socket)?.size ?? 0) > 0;

/** Unlike a response, a reset needs no window of the client. It says that a retry is safe. */
export function resetOverHttp2({ raw }: FastifyRequest, code: number): boolean {
  const { stream } = raw as unknown as { readonly stream?: ServerHttp2Stream };
  stream?.close(code);
  return stream !== undefined;
}

declare module "fastify" {
  interface FastifyRequest {
    usage: Usage;
  }
}
