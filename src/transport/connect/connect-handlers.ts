/** What connect-es serves: all requests that are not plain. */
import type { IncomingMessage } from "node:http";
import { Code, createConnectRouter } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import {
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import type { FastifyReply, FastifyRequest } from "fastify";
import { JSON_WRITE_OPTIONS } from "../encoding/json-options.js";
import type { Operation } from "../operations.js";
import { boundDeadline, inTime } from "./deadlines.js";
import { outcomeOfAnswer } from "./outcome.js";
import { asInvalidArgument, bytesOf, withBody } from "./invalid-argument.js";
import { drainBody } from "../drain-body.js";

/** The largest that connect-es allows: answers are base64 of what does not compress, and are sent as they are. */
const NEVER_COMPRESS = 0xffffffff;

const NOTHING = Buffer.alloc(0);
const OK = 200;

/** One rpc as connect-es serves it. */
export interface ConnectHandler {
  readonly requestPath: string;
  readonly serve: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}

/** The operations as connect-es serves them. */
export function connectHandlers(operations: readonly Operation[], bodyLimit: number): ConnectHandler[] {
  const router = createConnectRouter({
    jsonOptions: { ...JSON_WRITE_OPTIONS, ignoreUnknownFields: true },
    readMaxBytes: bodyLimit,
    // Requests may come compressed.
    acceptCompression: [compressionGzip],
    compressMinBytes: NEVER_COMPRESS,
  });
  for (const { method, call } of operations) {
    router.rpc(method, async (request, { signal }) => (await inTime(call(request), signal)).message());
  }
  return router.handlers.map((handler) => ({
    requestPath: handler.requestPath,
    serve: serveWith(asInvalidArgument(handler)),
  }));
}

function serveWith(handler: UniversalHandler): ConnectHandler["serve"] {
  return async (request, reply) => {
    const asked = universalRequestFromNodeRequest(request.raw, reply.raw, undefined, undefined);
    const { record } = request;
    boundDeadline(asked.header);
    reply.raw.once("close", () => record.complete(Code.Canceled));
    try {
      const answer = await handler({ ...asked, body: bodyOf(request.raw) });
      const bytes = record.protocol === "connect" ? undefined : await bytesOf(answer);
      // What connect-es refuses by its head alone it does not read, nor what stands behind one message. Over HTTP/2 Node.js
      // forgets a stream behind its trailers, and whoever still sends waits for ever.
      if (bytes !== undefined) await drainBody(request.raw);
      else if (answer.status !== OK) void drainBody(request.raw);
      // What connect-node gives to wait for it resolves only where a response tells its end, which none of HTTP/1.1 does.
      reply.raw.once("finish", () => record.complete(outcomeOfAnswer(answer, record.protocol, bytes ?? NOTHING)));
      await universalResponseToNodeResponse(bytes === undefined ? answer : withBody(answer, bytes), reply.raw);
    } catch (error) {
      record.complete(Code.Canceled);
      throw error;
    }
  };
}

/** The body, of which what is not read leaves the connection whole. */
async function* bodyOf(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    // A body that is not decoded comes as bytes.
    yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  } finally {
    await drainBody(request);
  }
}
