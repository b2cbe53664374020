/**
 * connect-es answers a request whose bytes are no message with `internal`, as
 * if the fault were ours. It is the caller's: here such an answer becomes
 * `invalid_argument`, as REST and the JSON forms have it, in each protocol's
 * own way of telling an error. The library offers no place before the error is
 * written; its words for it, PARSE, are held by a test.
 */
import { Code } from "@connectrpc/connect";
import { createAsyncIterable, type UniversalHandler, type UniversalServerResponse } from "@connectrpc/connect/protocol";

const PARSE = "parse binary";
/** Its words for a body that ends before its compression does. */
const DECOMPRESS = "decompression failed";
/** What is said of an error that is none of Connect: an operation has no other, so it is the base64 of a GET. */
const UNREAD = "internal error";
const INTERNAL = String(Code.Internal);
const INVALID = String(Code.InvalidArgument);

/** The same handler, which blames the caller for bytes that cannot be decoded. */
export function asInvalidArgument(handler: UniversalHandler): UniversalHandler {
  const answer = async (request: Parameters<UniversalHandler>[0]) => corrected(await handler(request));
  const { protocolNames, service, method, requestPath, allowedMethods, supportedContentType } = handler;
  return Object.assign(answer, { protocolNames, service, method, requestPath, allowedMethods, supportedContentType });
}

async function corrected(response: UniversalServerResponse): Promise<UniversalServerResponse> {
  const { header, trailer } = response;
  if (trailer !== undefined && isOurs(trailer.get("grpc-status"), trailer.get("grpc-message"))) {
    trailer.set("grpc-status", INVALID);
  }
  if (header?.get("content-type")?.startsWith("application/grpc-web") === true) return correctedGrpcWeb(response);
  return response.status === 500 ? correctedConnect(response) : response;
}

/** Connect: a status, and a JSON body with code and message. */
async function correctedConnect(response: UniversalServerResponse): Promise<UniversalServerResponse> {
  const body = await bytesOf(response);
  const { code, message = "" } = JSON.parse(body.toString()) as { code?: string; message?: string };
  if (code !== "internal" || !(isCallers(message) || message === UNREAD)) return withBody(response, body);
  const said = message === UNREAD ? "the message in the query is not base64" : message;
  const text = Buffer.from(JSON.stringify({ code: "invalid_argument", message: said }));
  response.header?.set("content-length", String(text.length));
  return { ...withBody(response, text), status: 400 };
}

/** gRPC-Web: the trailers are a last message of the body, with its highest flag set. */
async function correctedGrpcWeb(response: UniversalServerResponse): Promise<UniversalServerResponse> {
  const body = await bytesOf(response);
  if (body[0] !== 0x80) return withBody(response, body);
  const trailers = body.subarray(5).toString();
  const field = (name: string) => new RegExp(`^${name}: ?(.*)\\r$`, "m").exec(trailers)?.[1];
  if (!isOurs(field("grpc-status"), field("grpc-message"))) return withBody(response, body);
  const text = Buffer.from(trailers.replace(/^grpc-status: ?\d+/m, `grpc-status: ${INVALID}`));
  const head = Buffer.from([0x80, 0, 0, 0, 0]);
  head.writeUInt32BE(text.length, 1);
  return withBody(response, Buffer.concat([head, text]));
}

function isOurs(status: string | null | undefined, message: string | null | undefined): boolean {
  return status === INTERNAL && isCallers(decodeURIComponent(message ?? ""));
}

const isCallers = (message: string): boolean => message.startsWith(PARSE) || message === DECOMPRESS;

/** All that an answer sends. */
export async function bytesOf({ body }: UniversalServerResponse): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The answer with these bytes, which are all that it sends. */
export function withBody(response: UniversalServerResponse, body: Uint8Array): UniversalServerResponse {
  return { ...response, body: createAsyncIterable([body]) };
}
