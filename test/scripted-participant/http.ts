/** Serves the calls over HTTP. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import type { JsonValue } from "../../src/util/json.js";
import type { Calls } from "./calls.js";
import { Refusal, refusal, withNulls } from "./errors.js";
import type { Refused } from "./faults.js";
import type { EventsResponse } from "./messages.js";
import { prepareRequest } from "./prepare.js";
import {
  activeContractsRequest,
  DecodingError,
  eventsRequest,
  parse,
  updateByIdRequest,
  updateByOffsetRequest,
} from "./requests.js";

interface HttpOptions {
  readonly listLimit: number;
  readonly ledgerEndMs: () => number;
  readonly stopped: AbortSignal;
}

type Answer = (calls: Calls, url: URL, body: JsonValue, options: HttpOptions) => object | Promise<object>;

const answers: Readonly<Record<string, Answer>> = {
  "GET /v2/state/ledger-end": async (calls, _url, _body, { ledgerEndMs, stopped }) => {
    const ms = ledgerEndMs();
    const end = { offset: calls.ledger.end };
    // Read the end before the delay, so that a slow response is outdated.
    if (ms > 0) await pause(ms, undefined, { signal: stopped });
    return end;
  },
  "GET /v2/packages": (calls) => calls.packages(),
  "GET /v2/state/latest-pruned-offsets": (calls) => calls.prunedOffsets(),
  "POST /v2/state/active-contracts": (calls, _url, body, { listLimit }) =>
    list(calls.activeContracts(activeContractsRequest(body)), listLimit),
  "POST /v2/events/events-by-contract-id": (calls, _url, body) =>
    eventsWithNulls(calls.eventsByContractId(eventsRequest(body))),
  "POST /v2/interactive-submission/prepare": (calls, _url, body) => calls.prepareSubmission(prepareRequest(body)),
  "POST /v2/package-vetting/list": (calls, _url, body) => calls.vettedPackages(body),
  "GET /v2/authenticated-user": (calls) => calls.authenticatedUser(),
  "GET /v2/users/USER/rights": (calls, url) => calls.userRights(decodeURIComponent(url.pathname.split("/")[3] ?? "")),
  "POST /v2/updates/update-by-id": (calls, _url, body) => calls.updateById(updateByIdRequest(body)),
  "POST /v2/updates/update-by-offset": (calls, _url, body) => calls.updateByOffset(updateByOffsetRequest(body)),
};

/** Answers a request, valid or not. `calls` may throw a Refusal. Returns the status. */
export async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  calls: (body: JsonValue | undefined) => Calls,
  options: HttpOptions,
): Promise<number> {
  const url = new URL(request.url ?? "/", "http://127.0.0.1");
  try {
    const sent = await text(request);
    const body = sent === "" ? undefined : parse(sent);
    const call = calls(body);
    const path = url.pathname.replace(/^(\/v2\/users)\/[^/]+\//, "$1/USER/");
    const answering = answers[`${request.method} ${path}`];
    if (answering === undefined && request.method !== "GET" && request.method !== "POST") {
      return reply(response, 405, "Method Not Allowed");
    }
    if (answering === undefined) {
      return reply(response, 404, noSuchPage(`http://${request.headers.host}${request.url}`, request.method));
    }
    if (request.method === "POST" && body === undefined) throw new DecodingError(["", "exhausted input"]);
    return reply(response, 200, await answering(call, url, body ?? null, options));
  } catch (error) {
    if (error instanceof Refusal) return reply(response, error.status, withNulls(error.error));
    if (error instanceof DecodingError) return reply(response, 400, error.message);
    const refused = refusal("LEDGER_API_INTERNAL_ERROR", String(error));
    return reply(response, refused.status, withNulls(refused.error));
  }
}

/** Rejects a call as a fault says. Returns the status, if one is sent. */
export function refuse(response: ServerResponse, refused: Refused): number | undefined {
  if (refused === "no answer") return undefined;
  if (refused === "hang up") {
    response.destroy();
    return undefined;
  }
  if ("page" in refused) return reply(response, refused.page, pageOf(refused.page));
  return reply(response, refused.refusal.status, withNulls(refused.refusal.error));
}

/** The body of a response for a path that the API does not have. */
export const noSuchPage = (uri: string, method = "GET"): object => ({
  errors: [`HttpMethod(${method}), uri: ${uri}`],
  status: 404,
  ledgerApiError: null,
});

export const pageOf = (status: number): string =>
  `<html><body><h1>${status} ${STATUS_CODES[status] ?? ""}</h1></body></html>`;

/** Sends a string unchanged, and anything else as JSON. Returns the status. */
export function reply(response: ServerResponse, status: number, body: object | string): number {
  const isText = typeof body === "string";
  response.writeHead(status, { "content-type": isText ? "text/plain; charset=UTF-8" : "application/json" });
  response.end(isText ? body : JSON.stringify(body));
  return status;
}

/** Absent fields are null, as in errors. */
function eventsWithNulls({ created, archived }: EventsResponse): object {
  return { created: created ?? null, archived: archived ?? null };
}

/** The elements as a list. Throws a Refusal if it exceeds the limit. */
function list<T extends object>(elements: Iterable<T>, listLimit: number): readonly T[] {
  const all = [...elements];
  if (all.length <= listLimit) return all;
  const cause = `The number of matching elements (${listLimit + 1}) is greater than the node limit (${listLimit}).`;
  throw refusal("JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED", cause, { status: 413 });
}
