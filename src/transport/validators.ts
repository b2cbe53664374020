/**
 * What a response says it rests on, and whether the client has it already; the page is docs/caching.md. Conditions are
 * those of RFC 9110, section 13.1.2.
 */
import type { IncomingMessage } from "node:http";
import { formatLedgerTime } from "../domain/ledger-time.js";
import { Recording, type Tag } from "../registry/recorder.js";
import type { EncodableResponse } from "./encoding/encodable-response.js";

/** Asks for the validators by every protocol; a client that has the response gets an empty one. */
const OWN_CONDITION = "offledger-if-none-match";
/** Asks by GET, for which HTTP has 304. */
const CONDITION = "if-none-match";

const ETAG = "etag";
export const GENERATION = "offledger-generation";
/** The response is empty because the client has it. */
export const NOT_MODIFIED = "offledger-not-modified";

const MAX_LISTED_TAGS = 90;
/** The first three hexadecimal digits of a tag select a bit. */
const SET_DIGITS = 3;

type Request = Pick<IncomingMessage, "headers" | "method">;

const isGet = ({ method }: Request): boolean => method === "GET" || method === "HEAD";

/** What to record for the validators of a response; undefined if the request does not ask for them. */
export const recordingFor = (request: Request): Recording | undefined =>
  request.headers[OWN_CONDITION] !== undefined || (isGet(request) && request.headers[CONDITION] !== undefined)
    ? new Recording()
    : undefined;

/** Headers by name. */
export type Validators = Readonly<Record<string, string>>;

/** None for a response that does not rest on the store. */
export function validatorsOf(response: EncodableResponse, recording: Recording | undefined): Validators {
  const { basis } = response;
  if (basis === undefined) return {};
  const headers: Record<string, string> = { [GENERATION]: basis.generation, "offledger-offset": String(basis.offset) };
  if (basis.asOf !== undefined) headers["offledger-record-time"] = formatLedgerTime(basis.asOf);
  if (recording?.last === undefined) return headers;
  const { tags, validUntil } = recording.last;
  headers[ETAG] = response.etag();
  if (tags === undefined) return headers;
  if (validUntil !== undefined) headers["offledger-valid-until"] = formatLedgerTime(validUntil);
  headers["offledger-tags"] = tagsHeader(tags);
  return headers;
}

/** How to send a response that the client has: as 304, or as an empty message. Undefined if the client does not have it. */
export function shortForm(request: Request, { [ETAG]: etag }: Validators): "304" | "empty" | undefined {
  if (etag === undefined) return undefined;
  if (isGet(request) && matchesEtag(request.headers[CONDITION], etag)) return "304";
  return matchesEtag(request.headers[OWN_CONDITION], etag) ? "empty" : undefined;
}

/**
 * For responses to GET that rest on the store: a cache has to ask before each use whether it is still the same. It must not
 * keep an empty message, which is the response to one client.
 */
export const cacheControl = (isEmpty: boolean): string => (isEmpty ? "no-store" : "no-cache");

/** Whether a client has the content with this entity tag. Weak comparison: tags name what a response says, not its bytes. */
function matchesEtag(condition: string | readonly string[] | undefined, etag: string): boolean {
  if (condition === undefined) return false;
  const known = String(condition).split(",");
  return known.some((one) => one.trim() === "*" || opaqueTag(one.trim()) === opaqueTag(etag));
}

const opaqueTag = (etag: string): string => (etag.startsWith("W/") ? etag.slice(2) : etag);

/** A list, or where the tags are too many a bit set of their first digits. */
export function tagsHeader(tags: ReadonlySet<Tag>): string {
  if (tags.size <= MAX_LISTED_TAGS) return [...tags].join(",");
  // Bit n is counted from the lowest of the first byte.
  const bytes = Buffer.alloc(16 ** SET_DIGITS / 8);
  for (const tag of tags) {
    const bit = Number.parseInt(tag.slice(0, SET_DIGITS), 16);
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return `~${bytes.toString("base64url")}`;
}
