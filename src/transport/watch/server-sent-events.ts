/** The stream of changes for REST: server-sent events, https://html.spec.whatwg.org/multipage/server-sent-events.html */
import { Readable } from "node:stream";
import { toJsonString } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type WatchRequest, WatchResponseSchema } from "../../../gen/offledger/watch/v1/watch_pb.js";
import { WatchService } from "../../../gen/offledger/watch/v1/watch_service_pb.js";
import type { RequestRecord } from "../../telemetry/request-record.js";
import { memoizeLast } from "../../util/memoize.js";
import { JSON_WRITE_OPTIONS } from "../encoding/encoders.js";
import { responseBudgetError, STREAM_UNITS } from "../limits.js";
import { servedBindings } from "../rest/bindings.js";
import { type Query, requestReader } from "../rest/rest.js";
import type { WatchCalls, WatchResponse } from "./watch-calls.js";

const RETRY_MS = 1_000;
const HEAD = `retry: ${RETRY_MS}\n\n`;
const FIELDS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // Read by nginx, which otherwise keeps events back until a buffer is full.
  "x-accel-buffering": "no",
};

/** Register it within the REST plugin, whose error handler answers a stream that cannot begin. */
export function serverSentEvents(server: FastifyInstance, calls: WatchCalls): void {
  const { watch } = WatchService.method;
  for (const binding of servedBindings(watch, undefined)) {
    const read = requestReader(watch.input, binding);
    server.route({
      method: binding.httpMethod,
      url: binding.route,
      config: { operation: calls.name },
      exposeHeadRoute: false,
      async handler(request, reply) {
        request.record.operation = calls.name;
        const refused = responseBudgetError(request.usage.budgets);
        if (refused !== undefined) throw refused;
        // The reader of this path makes this message.
        const message = read({}, {}, queryOf(request)) as WatchRequest;
        const gone = new AbortController();
        reply.raw.once("close", () => gone.abort(new ConnectError("the client is gone", Code.Canceled)));
        const events = calls.call(message, gone.signal, STREAM_UNITS.rest);
        const first = await events.next();
        if (first.done === true) return reply.send();
        request.usage.becomeStream();
        return reply.headers(FIELDS).send(Readable.from(texts(request.record, first.value, events)));
      },
    });
  }
}

/** Browsers resume with the id of the last event, which replaces the token of the URL. */
function queryOf({ query, headers }: FastifyRequest): Query {
  const lastEventId = headers["last-event-id"];
  // Fastify parses the query of every request.
  return typeof lastEventId === "string" && lastEventId !== ""
    ? { ...(query as Query), resumeToken: lastEventId }
    : (query as Query);
}

/** The text of each event. It ends as the events do: the client connects again. */
async function* texts(
  record: RequestRecord,
  first: WatchResponse,
  events: AsyncGenerator<WatchResponse>,
): AsyncGenerator<string> {
  try {
    yield HEAD + format(first);
    for await (const event of events) yield format(event);
    record.complete(0);
  } catch (error) {
    record.complete(ConnectError.from(error).code);
  } finally {
    await events.return(undefined);
  }
}

/** Streams without registrars and tags send the same messages. */
const format = memoizeLast((message: WatchResponse): string => {
  const { resumeToken, event } = message;
  const data = toJsonString(WatchResponseSchema, message, JSON_WRITE_OPTIONS);
  return `event: ${event.case ?? ""}\nid: ${resumeToken}\ndata: ${data}\n\n`;
});
