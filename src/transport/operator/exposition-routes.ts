import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Exposition } from "../../telemetry/metrics/exposition.js";
import { drainBody } from "../bodies.js";

const METRICS = "/metrics";
const WARNINGS = "/warnings";
export const EXPOSITION_PATHS: readonly string[] = [METRICS, WARNINGS];

const TEXT = "text/plain; charset=utf-8";
const JSON_TYPE = "application/json; charset=utf-8";

/** Serves GET /metrics and GET /warnings. Other methods, and other spellings of the paths, get 404. */
export function expositionRoutes(exposition: Exposition) {
  const { contentType, warnings } = exposition;
  const hint = `not found; use GET ${METRICS}${warnings === undefined ? "" : ` or GET ${WARNINGS}`}\n`;
  const notFound = (reply: FastifyReply) => reply.code(404).type(TEXT).send(hint);
  const serve = (server: FastifyInstance, path: string, send: (reply: FastifyReply) => Promise<FastifyReply>) =>
    server.all(path, {
      // Before a body is read.
      onRequest: (request, reply, done) => {
        if (isGetOf(path, request)) return done();
        void drainBody(request.raw);
        void notFound(reply);
      },
      // Errors have no body: Prometheus shows the status.
      handler: (_request, reply) => send(reply).catch(() => reply.code(500).send()),
    });
  return async (server: FastifyInstance): Promise<void> => {
    serve(server, METRICS, async (reply) => reply.type(contentType).send(await exposition.metrics()));
    serve(server, WARNINGS, async (reply) => {
      if (warnings === undefined) return notFound(reply);
      return sendWarnings(reply, await warnings.list());
    });
  };
}

const isGetOf = (path: string, { method, url }: FastifyRequest): boolean =>
  method === "GET" && url.split("?", 1)[0] === path;

function sendWarnings(reply: FastifyReply, list: object | undefined): FastifyReply {
  reply.type(JSON_TYPE);
  if (list !== undefined) return reply.send(`${JSON.stringify(list)}\n`);
  const error = "the first check of the registry is not finished yet";
  return reply
    .code(503)
    .header("retry-after", "1")
    .send(`${JSON.stringify({ error })}\n`);
}
