import { create, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { type WatchRequest, WatchResponseSchema } from "../../gen/offledger/watch/v1/watch_pb.js";
import type { ChangeStreams } from "./change-streams.js";
import { resumeToken, type WatchEvent } from "./released-changes.js";
import { memoizeLast } from "../util/memoize.js";
import { timestamp } from "./messages.js";

type WatchResponse = MessageShape<typeof WatchResponseSchema>;

/** The one rpc that streams. Ends when `signal` aborts. Throws RegistryError. */
export async function* watch(
  streams: ChangeStreams,
  request: WatchRequest,
  signal: AbortSignal,
): AsyncGenerator<WatchResponse> {
  for await (const event of streams.watch(request, signal)) yield message(event);
}

/** Streams without a filter send the same events. */
const message = memoizeLast((event: WatchEvent): WatchResponse => {
  const { generation, offset, asOf } = event;
  return create(WatchResponseSchema, {
    event: payloadOf(event),
    generation,
    offset: BigInt(offset),
    ...(asOf !== undefined && { recordTime: timestamp(asOf) }),
    resumeToken: resumeToken(event),
  });
});

type Payload = NonNullable<MessageInitShape<typeof WatchResponseSchema>["event"]>;

function payloadOf(event: WatchEvent): Payload {
  switch (event.type) {
    case "reset":
      return { case: "reset", value: {} };
    case "changed":
      return { case: "changed", value: { tags: [...event.tags] } };
    case "heartbeat":
      return {
        case: "heartbeat",
        value: event.age === undefined ? {} : { age: durationFromMs(Math.round(event.age)) },
      };
  }
}
