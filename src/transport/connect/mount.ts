import { IncomingMessage, type ServerResponse } from "node:http";
import { constants, type Http2ServerRequest } from "node:http2";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { protocolOf } from "../middleware/protocol.js";
import { outcomeOfAnswer } from "./outcome.js";
import { asInvalidArgument } from "./invalid-argument.js";
import { drainBody } from "../drain-body.js";
import { setHeaders, hijack } from "../fast-path/send.js";

/** Trailers of gRPC-Web stand in the body, which is not kept here. */
const NOTHING = Buffer.alloc(0);

/** Serves what a router of connect-es has, streams too. `report` is told of what is a defect of ours. */
export function mount(server: FastifyInstance, { handlers }: ConnectRouter, report: (defect: unknown) => void): void {
  // Each protocol reads the body itself.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", (_request, _payload, done) => done(null));
  for (const handler of handlers) {
    // What corrects an error has to have all of the answer.
    const handle = handler.method.methodKind === "unary" ? asInvalidArgument(handler) : handler;
    const onRequest = (request: FastifyRequest, reply: FastifyReply): void => {
      setHeaders(reply.raw, hijack(reply));
      serve(handle, request, reply.raw).catch((error: unknown) => {
        // Who has gone needs no answer.
        if (ConnectError.from(error).code !== Code.Aborted) report(error);
        reply.raw.destroy();
      });
    };
    // Behind the hooks of the server, and before Fastify prepares to read a body; so the handler is never reached.
    const config = { operation: handler.requestPath.slice(1), isRpc: true };
    server.all(handler.requestPath, { onRequest, config }, () => undefined);
  }
}

async function serve(handle: UniversalHandler, request: FastifyRequest, response: ServerResponse): Promise<void> {
  const { record, raw } = request;
  record.operation = handle.requestPath.slice(1);
  record.protocol = protocolOf(request);
  leaveNothing(raw, response);
  const asked = universalRequestFromNodeRequest(raw, response, undefined, undefined);
  // A body that is not decoded comes as bytes.
  const body = raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  response.once("close", () => record.complete(Code.Canceled));
  try {
    const answer = await handle({ ...asked, body });
    // As in wire/rpc/stock.ts: the promise behind this does not always resolve.
    response.once("finish", () => record.complete(outcomeOfAnswer(answer, record.protocol, NOTHING)));
    await universalResponseToNodeResponse(answer, response);
  } catch (error) {
    record.complete(Code.Canceled);
    throw error;
  }
}

/**
 * What a caller still sends behind an answer that is complete must not hold the
 * connection up. Over HTTP/2 the stream is ended, without an error, as gRPC has it.
 */
function leaveNothing(request: IncomingMessage, response: ServerResponse): void {
  if (request instanceof IncomingMessage) {
    response.once("finish", () => void drainBody(request));
    return;
  }
  const { stream } = request as unknown as Http2ServerRequest;
  const close = () => {
    stream.close(constants.NGHTTP2_NO_ERROR);
    // A stream with bytes that nobody takes stays.
    void drainBody(request);
  };
  // Behind the listener that sends the trailers.
  stream.once("wantTrailers", () => setImmediate(close));
}
