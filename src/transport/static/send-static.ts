import type { OutgoingHttpHeaders } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { REQUEST_ID } from "../../telemetry/request-ids.js";
import { acceptsGzip, GZIP, varyByEncoding } from "../compress.js";
import { reject } from "../reject.js";
import { responseBudgetError } from "../limits.js";
import { hijack, setHeaders } from "../reply.js";
import { matchesEtag } from "../validators.js";
import { SLICE_BYTES, writeSlices } from "../write-slices.js";
import { byteRange } from "./byte-range.js";
import type { StaticContent } from "./static-content.js";

export interface StaticOptions {
  readonly compresses: boolean;
  /** Further headers of the response. */
  readonly headers?: OutgoingHttpHeaders;
}

interface Selected {
  readonly status: 200 | 206 | 304;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Buffer;
}

/**
 * Sends content that all responses share: whole, in gzip, or a range of it; 304 to a client that has it;
 * 503 beyond the budget of responses, towards which it counts with what may wait of it at a time.
 */
export async function sendStatic(
  request: FastifyRequest,
  reply: FastifyReply,
  content: StaticContent,
  { compresses, headers = {} }: StaticOptions,
): Promise<void> {
  const selected = await select(request, content, compresses);
  const refused = responseBudgetError(request.usage.budgets);
  if (refused !== undefined) return reject(request, reply, refused);
  const { record, routeOptions, method } = request;
  record.operation = routeOptions.config.operation ?? "";
  const present = hijack(reply);
  const response = reply.raw;
  setHeaders(response, present);
  if (compresses) response.setHeader("vary", varyByEncoding(present["vary"]));
  const own = { etag: content.etag, [REQUEST_ID]: record.requestId };
  response.writeHead(selected.status, { ...headers, ...own, ...selected.headers });
  if (selected.body === undefined || method === "HEAD") response.end();
  else {
    writeSlices(response, selected.body);
    request.usage.holdResponse(Math.min(selected.body.length, SLICE_BYTES));
  }
  record.complete(0);
}

async function select({ headers }: FastifyRequest, content: StaticContent, compresses: boolean): Promise<Selected> {
  const { bytes, contentType, etag } = content;
  if (matchesEtag(headers["if-none-match"], etag)) return { status: 304, headers: {} };
  const type = { "content-type": contentType };
  // If-Range needs a strong ETag, so with it the whole is sent.
  const range = headers["if-range"] === undefined ? byteRange(headers.range, bytes.length) : undefined;
  if (range !== undefined) {
    const { start, end } = range;
    const extent = { "content-range": `bytes ${start}-${end - 1}/${bytes.length}`, "content-length": end - start };
    return { status: 206, headers: { ...type, ...extent }, body: bytes.subarray(start, end) };
  }
  const gzip = compresses && acceptsGzip(headers["accept-encoding"]) ? await content.gzip() : undefined;
  if (gzip === undefined) {
    const length = { "content-length": bytes.length, "accept-ranges": "bytes" };
    return { status: 200, headers: { ...type, ...length }, body: bytes };
  }
  return { status: 200, headers: { ...type, "content-length": gzip.length, "content-encoding": GZIP }, body: gzip };
}
