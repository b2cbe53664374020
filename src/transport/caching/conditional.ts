/** Conditional requests, RFC 9110, section 13.1.2: the client has a response, and asks whether it is still the same. */

import type { EncodableResponse } from "../encoding/encodable-response.js";

/** Of REST, and of Connect by GET. */
export const IF_NONE_MATCH = "if-none-match";
/** Of RPC, whose libraries may keep the other for themselves. */
export const RPC_IF_NONE_MATCH = "offledger-if-none-match";

/** Whether the client has the response, according to the header of its request. */
export const isNotModified = (response: EncodableResponse, header: string | readonly string[] | undefined): boolean =>
  header !== undefined && response.basis !== undefined && matchesAny(header, response.etag());

/** Whether one of the listed entity tags is `etag`. Weak comparison: they name what an answer says, not its bytes. */
export function matchesAny(header: string | readonly string[], etag: string): boolean {
  const listed = typeof header === "string" ? header : header.join(",");
  if (listed.trim() === "*") return true;
  const opaque = opaqueTag(etag);
  return listed.split(",").some((one) => opaqueTag(one.trim()) === opaque);
}

const opaqueTag = (etag: string): string => (etag.startsWith("W/") ? etag.slice(2) : etag);
