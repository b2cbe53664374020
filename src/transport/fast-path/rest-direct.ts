import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import { readBody } from "./read-body.js";

export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<void> | undefined;

/** Parses a body, and calls back before it returns. */
export type ParseJson = (
  request: FastifyRequest,
  text: string,
  done: (error: Error | null, value?: unknown) => void,
) => void;

/**
 * Reads the body of a plain request, as nearly all are, and hands it to the
 * handler, behind the hooks of the server and past what Fastify does for bodies
 * of any kind. What is not plain, or too large, goes Fastify's way.
 */
export function fastPath(handler: Handler, parseJson: ParseJson, bodyLimit: number): onRequestHookHandler {
  return (request, reply, done) => {
    const { headers } = request.raw;
    const length = Number(headers["content-length"]);
    const isPlain =
      headers["content-type"] === "application/json" &&
      headers["content-encoding"] === undefined &&
      length > 0 &&
      length <= bodyLimit;
    if (!isPlain) {
      done();
      return;
    }
    readBody(request.raw, bodyLimit, (body) => {
      // Who has gone needs no answer.
      if (body === undefined) request.record.complete(Code.Canceled);
      else if (body instanceof ConnectError) fail(reply, body);
      else {
        parseJson(request, body.toString(), (error, value) => {
          if (error !== null) fail(reply, error);
          else answer(handler, request, reply, value);
        });
      }
    });
  };
}

function answer(handler: Handler, request: FastifyRequest, reply: FastifyReply, body: unknown): void {
  request.body = body;
  try {
    handler(request, reply)?.catch((error: unknown) => fail(reply, error));
  } catch (error) {
    fail(reply, error);
  }
}

/** Fastify tells an error that is sent as one. */
function fail(reply: FastifyReply, error: unknown): void {
  void reply.send(error);
}
