/** Conditional requests, RFC 9110, section 13.1.2: the client has a response, and asks whether it is still the same. */

import type { EncodableResponse } from "../encoding/encodable-response.js";
import { matchesEtag } from "./if-none-match.js";

/** Of REST, and of Connect by GET. */
export const IF_NONE_MATCH = "if-none-match";
/** Of RPC, whose libraries may keep the other for themselves. */
export const RPC_IF_NONE_MATCH = "offledger-if-none-match";

/** Whether the client has the response, according to the header of its request. */
export const isNotModified = (response: EncodableResponse, header: string | readonly string[] | undefined): boolean =>
  header !== undefined && response.basis !== undefined && matchesEtag(header, response.etag());
