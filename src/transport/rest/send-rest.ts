import { IF_NONE_MATCH, isNotModified } from "../caching/conditional.js";
import { validatorFields } from "../caching/validators.js";
import type { EncodableResponse } from "../encoding/encodable-response.js";
import type { FastCall } from "../fast-path/call.js";
import { sendHttp, sendNotModified } from "../fast-path/send.js";

/** A cache may keep a response to GET, and must ask before each use whether it is still the same. */
const REVALIDATE = ["cache-control", "no-cache"];

/** Sends the response of a request that is not on the fast path. Throws if it cannot be encoded. */
export function sendRest(call: FastCall, response: EncodableResponse): void {
  const { request } = call;
  const fields = validatorFields(response);
  if (fields.length > 0 && request.method === "GET") fields.push(...REVALIDATE);
  if (isNotModified(response, request.raw.headers[IF_NONE_MATCH])) {
    request.record.isNotModified = true;
    sendNotModified(call, fields);
  } else sendHttp(call, "application/json", response.json(), fields);
}
