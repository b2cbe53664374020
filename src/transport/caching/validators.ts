/** The headers that say what a response rests on, and how long it holds; see docs/caching.md. */
import { formatLedgerTime } from "../../domain/ledger-time.js";
import type { Basis } from "../../registry/basis.js";
import type { EncodableResponse } from "../encoding/encodable-response.js";
import { tagsHeader } from "./tags-header.js";

export const ETAG = "etag";
export const GENERATION = "offledger-generation";
export const OFFSET = "offledger-offset";
export const RECORD_TIME = "offledger-record-time";
export const VALID_UNTIL = "offledger-valid-until";
export const TAGS = "offledger-tags";
/** Of RPC: the response is empty because the client has it. */
export const NOT_MODIFIED = "offledger-not-modified";

/** Names and values in turn, to which the caller may add. Empty for a response that does not rest on the store. */
export function validatorFields(response: EncodableResponse): string[] {
  const { basis } = response;
  if (basis === undefined) return [];
  const tags = basis.tags();
  const fields = [ETAG, response.etag(), GENERATION, basis.generation, OFFSET, String(basis.offset)];
  if (basis.asOf !== undefined) fields.push(RECORD_TIME, recordTime(basis.asOf));
  if (tags === undefined) return fields;
  if (basis.validUntil !== undefined) fields.push(VALID_UNTIL, formatLedgerTime(basis.validUntil));
  fields.push(TAGS, tagsHeader(tags));
  return fields;
}

let lastMicros: number | undefined;
let lastTime = "";

/** Most responses have the time of the one before. */
function recordTime(micros: Exclude<Basis["asOf"], undefined>): string {
  if (micros !== lastMicros) {
    lastTime = formatLedgerTime(micros);
    lastMicros = micros;
  }
  return lastTime;
}
