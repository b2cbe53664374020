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
import { jsonWriting } from "../answer/json-writing.js";
import type { Operation } from "../operations.js";
import { boundDeadline, inTime } from "./deadlines.js";
import { outcomeOfAnswer } from "./outcome.js";
import { blameCaller, bytesOf, withBody } from "./undecodable.js";
import { readRest } from "../unread.js";

/** The largest that connect-es allows: answers are base64 of what does not compress, and are sent as they are. */
const NEVER_COMPRESS = 0xffffffff;

const NOTHING = Buffer.alloc(0);
const OK = 200;

/** One rpc as connect-es serves it. */
export interface Stock {
  readonly requestPath: string;
  readonly serve: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}

/** The operations as connect-es serves them. */
export function stock(operations: readonly Operation[], bodyLimit: number): Stock[] {
  const router = createConnectRouter({
    jsonOptions: { ...jsonWriting, ignoreUnknownFields: true },
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
    serve: serveWith(blameCaller(handler)),
  }));
}

function serveWith(handler: UniversalHandler): Stock["serve"] {
  return async (request, reply) => {
    const asked = universalRequestFromNodeRequest(request.raw, reply.raw, undefined, undefined);
    const { exchange } = request;
    boundDeadline(asked.header);
    reply.raw.once("close", () => exchange.end(Code.Canceled));
    try {
      const answer = await handler({ ...asked, body: bodyOf(request.raw) });
      const bytes = exchange.protocol === "connect" ? undefined : await bytesOf(answer);
      // What connect-es refuses by its head alone it does not read, nor what stands behind one message. Over HTTP/2 Node.js
      // forgets a stream behind its trailers, and whoever still sends waits for ever.
      if (bytes !== undefined) await readRest(request.raw);
      else if (answer.status !== OK) void readRest(request.raw);
      // What connect-node gives to wait for it resolves only where a response tells its end, which none of HTTP/1.1 does.
      reply.raw.once("finish", () => exchange.end(outcomeOfAnswer(answer, exchange.protocol, bytes ?? NOTHING)));
      await universalResponseToNodeResponse(bytes === undefined ? answer : withBody(answer, bytes), reply.raw);
    } catch (error) {
      exchange.end(Code.Canceled);
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
    await readRest(request);
  }
}
