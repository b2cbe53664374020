/** Encodes requests and decodes responses for clients that control each byte. */
import type http2 from "node:http2";
import { fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import type { Call, Outcome } from "../../fixtures/protocols.js";

/** The last request of a connection makes the server close it. */
export function encodeHttp1({ path, body }: Call, isLast: boolean): Buffer {
  const text = JSON.stringify(body);
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: soak",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...(isLast ? ["Connection: close"] : []),
  ];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${text}`);
}

const codes: Readonly<Record<number, Code>> = { 404: Code.NotFound, 409: Code.Aborted, 503: Code.Unavailable };
const byNumber = new Map(Object.values(codes).map((code) => [String(code), code]));

/** The only response of a connection; undefined if it is incomplete or reports a request timeout. */
export function decodeHttp1(bytes: Buffer): Outcome | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = bytes.toString("latin1", 0, end);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
  const body = bytes.subarray(end + 4);
  const status = Number(head.split(" ")[1]);
  if (status === 408 || !(body.length >= length)) return undefined;
  const answer = JSON.parse(body.toString()) as { readonly error?: string; readonly error_description?: string };
  if (status === 200) return { ok: true, answer: answer as never };
  const message = answer.error_description ?? answer.error ?? "";
  return { ok: false, code: codes[status] ?? Code.Unknown, message: `${status} ${message}`.replace(/^503 /, "") };
}

export function encodeGrpc({ method, request }: Call): Buffer {
  const message = toBinary(method.input, fromJson(method.input, request));
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  return frame;
}

export function decodeGrpc({ method }: Call, bytes: Buffer, trailers: http2.IncomingHttpHeaders) {
  const status = trailers["grpc-status"];
  if (status === undefined) return undefined;
  if (status === "0") {
    const message = fromBinary(method.output, bytes.subarray(5));
    return { ok: true, answer: toJson(method.output, message, { alwaysEmitImplicit: true }) } satisfies Outcome;
  }
  const message = decodeURIComponent(trailers["grpc-message"] === undefined ? "" : String(trailers["grpc-message"]));
  const code = byNumber.get(String(status)) ?? Code.Unknown;
  return { ok: false, code, message } satisfies Outcome;
}
