import { parseTags, type ResponseTags } from "./tags.js";

/** What a response rests on, as its headers say. */
export interface ResponseBasis {
  readonly etag: string;
  readonly generation: string;
  readonly offset: number;
  /** Undefined if the response may not be used again without asking the service. */
  readonly tags: ResponseTags | undefined;
  /** For how long time does not change the response, in milliseconds from the time of the request. Infinity if it never does. */
  readonly validForMs: number;
}

/** `Date` has seconds, and servers may renew it late. */
const DATE_PRECISION_MS = 1_500;

/** Reads the headers of a response. Undefined if it has no entity tag: it is not made of contracts. */
export function readBasis(header: Headers): ResponseBasis | undefined {
  const etag = header.get("etag");
  const generation = header.get("offledger-generation");
  const offset = Number(header.get("offledger-offset") ?? Number.NaN);
  if (etag === null || generation === null || !Number.isSafeInteger(offset)) return undefined;
  const tags = header.get("offledger-tags");
  const validForMs = validFor(header);
  return { etag, generation, offset, tags: tags === null ? undefined : parseTags(tags), validForMs };
}

/** Counts from the clock of the service where the response has it: browsers hide `Date` from pages of other origins. */
function validFor(header: Headers): number {
  const validUntil = header.get("offledger-valid-until");
  if (validUntil === null) return Number.POSITIVE_INFINITY;
  const date = Date.parse(header.get("date") ?? "");
  const now = Number.isNaN(date) ? Date.now() : date + DATE_PRECISION_MS;
  const remaining = Date.parse(validUntil) - now;
  return Number.isNaN(remaining) ? 0 : remaining;
}
