/** Unary calls of Connect, gRPC and gRPC-Web: what each protocol puts around one message and its response. */
import type { Message } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Protocol } from "../../telemetry/request-record.js";
import { boundedMemoize } from "../../util/memoize.js";
import { formatValue } from "../../domain/errors.js";
import { readBody, tooManyBodies } from "../bodies.js";
import { GZIP, rpcGzip, answer, type Carrier, httpCarrier } from "../send.js";
import { fromBinaryBytes, fromJsonBytes } from "../decoding/decode.js";
import { recordRefusal, rejection } from "../errors.js";
import type { Encoding, Rpc } from "../rpcs.js";
import { FRAME_HEADER_BYTES, sendRpcError, trailerFrame } from "./errors.js";
import { rejectMediaType } from "./media-types.js";

/** gRPC reserves the other flags. */
const COMPRESSED_FLAG = 1;

/** A protocol with one of its encodings. */
interface Form {
  readonly protocol: Exclude<Protocol, "rest">;
  readonly carrier: Carrier;
}

/** A message in a frame, as gRPC and gRPC-Web have it. `end` sends the frame and what follows it. */
function framedCarrier(
  encoding: Encoding,
  contentType: string,
  end: (reply: FastifyReply, frame: Buffer) => void,
): Carrier {
  return {
    encoding,
    accepts: "grpc-accept-encoding",
    prefixBytes: FRAME_HEADER_BYTES,
    send(reply, frame, isCompressed) {
      frame[0] = isCompressed ? COMPRESSED_FLAG : 0;
      frame.writeUInt32BE(frame.length - FRAME_HEADER_BYTES, 1);
      reply.header("content-type", contentType).header("grpc-accept-encoding", GZIP);
      if (isCompressed) reply.header("grpc-encoding", GZIP);
      end(reply, frame);
    },
  };
}

function endGrpc(reply: FastifyReply, frame: Buffer): void {
  reply.trailer("grpc-status", (_reply, _payload, done) => done(null, "0"));
  void reply.send(frame);
}

/** The frame with the trailers of a call that succeeded. */
const GRPC_WEB_OK = trailerFrame("grpc-status: 0\r\n");

const endGrpcWeb = (reply: FastifyReply, frame: Buffer): void => void reply.send(Buffer.concat([frame, GRPC_WEB_OK]));

const connect = (encoding: Encoding, type: string): Form => ({
  protocol: "connect",
  carrier: httpCarrier(encoding, `application/${type}`),
});
const grpc = (encoding: Encoding, type: string): Form => ({
  protocol: "grpc",
  carrier: framedCarrier(encoding, `application/grpc+${type}`, endGrpc),
});
const grpcWeb = (encoding: Encoding, type: string): Form => ({
  protocol: "grpc-web",
  carrier: framedCarrier(encoding, `application/grpc-web+${type}`, endGrpcWeb),
});

/** By what follows `application/`. */
const forms: ReadonlyMap<string, Form> = new Map([
  ["json", connect("json", "json")],
  ["proto", connect("binary", "proto")],
  ["grpc", grpc("binary", "proto")],
  ["grpc+proto", grpc("binary", "proto")],
  ["grpc+json", grpc("json", "json")],
  ["grpc-web", grpcWeb("binary", "proto")],
  ["grpc-web+proto", grpcWeb("binary", "proto")],
  ["grpc-web+json", grpcWeb("json", "json")],
]);

/** Null for a content type that no protocol has. Only JSON may name its charset. */
const formOf = boundedMemoize((contentType: string): Form | null => {
  const [, type = "", charset] = /^application\/([\w+-]+)\s*(;\s*charset=utf-?8)?\s*$/i.exec(contentType) ?? [];
  const form = forms.get(type.toLowerCase());
  return form === undefined || (charset !== undefined && form.carrier.encoding !== "json") ? null : form;
});

/** The content types of POST. */
export const UNARY_TYPES = { supportedContentType: (type: string): boolean => formOf(type) !== null };

interface UnaryOptions {
  readonly maxBodyBytes: number;
  /** Whether responses are compressed for clients that accept it. */
  readonly compresses: boolean;
}

interface Call extends UnaryOptions {
  readonly rpc: Rpc;
  readonly form: Form;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Adds a route for each operation: POST, and GET for Connect where the operation has no side effects. */
export function unaryRoutes(server: FastifyInstance, rpcs: readonly Rpc[], options: UnaryOptions): void {
  for (const rpc of rpcs) {
    const { name, method } = rpc;
    const methods = method.idempotency === Idempotency.NO_SIDE_EFFECTS ? ["POST", "GET"] : ["POST"];
    server.route({
      method: methods,
      exposeHeadRoute: false,
      url: `/${name}`,
      config: { operation: name, isRpc: true },
      handler(request, reply) {
        const { raw, record } = request;
        const isGet = raw.method === "GET";
        const form = isGet ? formOfQuery(request) : formOf(raw.headers["content-type"] ?? "");
        if (form === null) return rejectMediaType(request, reply, UNARY_TYPES);
        record.protocol = form.protocol;
        const call = { rpc, form, request, reply, ...options };
        if (isGet) void respond(call, messageOfQuery(request));
        else {
          readBody(request, options.maxBodyBytes, form.carrier.prefixBytes, (body) =>
            body instanceof ConnectError ? sendRpcError(request, reply, body) : respond(call, body),
          );
        }
      },
    });
  }
}

/** Synchronous where the operation is. Never rejects. */
function respond(call: Call, body: Buffer): void | Promise<void> {
  const { rpc, form, request, reply, compresses } = call;
  const fail = (error: unknown) => {
    recordRefusal(request.record, error);
    sendRpcError(request, reply, ConnectError.from(error));
  };
  try {
    const unary = { rpc, request, reply, carrier: form.carrier, compresses, deadline: deadlineOf(request, form) };
    const message = readMessage(call, body);
    const done = message instanceof Promise ? message.then((one) => answer(unary, one)) : answer(unary, message);
    return done?.catch(fail);
  } catch (error) {
    return fail(error);
  }
}

function readMessage({ rpc, form, request, maxBodyBytes }: Call, body: Buffer): Message | Promise<Message> {
  const { input } = rpc.method;
  const decode = (bytes: Buffer): Message =>
    form.carrier.encoding === "json" ? fromJsonBytes(input, bytes) : fromBinaryBytes(input, bytes);
  const coding = codingOf(request, form);
  const isConnect = form.protocol === "connect";
  const message = isConnect ? body : unframe(body);
  const isCompressed = isConnect ? coding !== IDENTITY : ((body[0] ?? 0) & COMPRESSED_FLAG) !== 0;
  if (!isCompressed) return decode(message);
  if (coding === IDENTITY) {
    // The code is that which gRPC prescribes, as those of `unframe`.
    const problem = "the message is compressed, but grpc-encoding does not say how";
    throw rejection("PROTOCOL_ERROR", problem, { code: Code.Internal });
  }
  const { bodies } = request.usage.budgets;
  if (!bodies.tryTake(maxBodyBytes)) throw tooManyBodies();
  const decompressed = rpcGzip.decompress(message, maxBodyBytes).finally(() => bodies.release(maxBodyBytes));
  return decompressed.then(({ buffer, byteOffset, length }) => decode(Buffer.from(buffer, byteOffset, length)));
}

const IDENTITY = "identity";

/** The content coding of the message, gzip or the identity. Throws unimplemented for another. */
function codingOf(request: FastifyRequest, { protocol, carrier }: Form): string {
  const { headers, method } = request.raw;
  const given =
    protocol !== "connect"
      ? headers["grpc-encoding"]
      : method === "GET"
        ? parameter(request, "compression")
        : headers["content-encoding"];
  const coding = String(given ?? IDENTITY);
  if (coding === IDENTITY || coding === GZIP) return coding;
  throw rejection("PROTOCOL_ERROR", `unknown compression ${formatValue(coding)}: supported encodings are ${GZIP}`, {
    code: Code.Unimplemented,
    headers: { [carrier.accepts]: GZIP },
  });
}

function unframe(body: Buffer): Buffer {
  const end = FRAME_HEADER_BYTES + (body.length < FRAME_HEADER_BYTES ? 0 : body.readUInt32BE(1));
  if (body.length < end && body.length > 0) {
    throw rejection("PROTOCOL_ERROR", "the message is shorter than its frame says");
  }
  if (body.length !== end) {
    throw rejection("PROTOCOL_ERROR", "the body must be one message", { code: Code.Unimplemented });
  }
  return body.subarray(FRAME_HEADER_BYTES);
}

function parameter({ query }: FastifyRequest, name: string): string | undefined {
  const given = (query as Readonly<Record<string, string | readonly string[]>>)[name];
  return typeof given === "object" ? given[0] : given;
}

function formOfQuery(request: FastifyRequest): Form | null {
  const form = formOf(`application/${parameter(request, "encoding") ?? ""}`);
  return form?.protocol === "connect" ? form : null;
}

const messageOfQuery = (request: FastifyRequest): Buffer =>
  Buffer.from(parameter(request, "message") ?? "", parameter(request, "base64") === "1" ? "base64" : "utf8");

/** The longest timer of Node.js: a longer one fires at once. */
export const MAX_DEADLINE_MS = 2 ** 31 - 1;
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000_001 };

/** The header with how long a client waits. Undefined milliseconds without it, and where it is malformed. */
export function timeoutOf({ headers }: FastifyRequest["raw"], protocol: Protocol) {
  const [name, pattern] =
    protocol === "connect"
      ? (["connect-timeout-ms", /^(\d{1,10})$/] as const)
      : (["grpc-timeout", /^(\d{1,8})([HMSmun])$/] as const);
  const given = headers[name];
  const [, digits, unit = "m"] = pattern.exec(String(given)) ?? [];
  return { name, given, milliseconds: digits === undefined ? undefined : Number(digits) * (UNIT_MS[unit] ?? 1) };
}

/** As `performance.now()`, from the arrival of the request; undefined without a deadline. Throws invalid_argument. */
function deadlineOf({ raw, record }: FastifyRequest, { protocol }: Form): number | undefined {
  const { name, given, milliseconds } = timeoutOf(raw, protocol);
  if (given === undefined) return undefined;
  if (milliseconds === undefined) throw rejection("PROTOCOL_ERROR", `invalid ${name}: ${formatValue(String(given))}`);
  return record.startedAt + Math.min(milliseconds, MAX_DEADLINE_MS);
}
