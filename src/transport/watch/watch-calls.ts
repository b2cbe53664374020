import { create, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { type WatchRequest, WatchResponseSchema } from "../../../gen/offledger/watch/v1/watch_pb.js";
import { WatchService } from "../../../gen/offledger/watch/v1/watch_service_pb.js";
import type { ChangeStreams } from "../../service/change-streams.js";
import { watch } from "../../service/watch.js";
import { memoizeLast } from "../../util/memoize.js";
import { ruleCheck } from "../decoding/validation.js";
import { toConnectError } from "../errors.js";
import type { Budget } from "../limits.js";
import type { Report } from "../rpcs.js";
import { Streams } from "./streams.js";

export type WatchResponse = MessageShape<typeof WatchResponseSchema>;

interface WatchOptions {
  readonly streams: ChangeStreams;
  /** The maximum number of streams; an operator's setting. */
  readonly maxStreams: number;
  /** In STREAM_UNITS. */
  readonly memory: Budget;
  readonly report: Report;
}

/** It bounds streams whose client is gone without closing them, and balances clients over processes. */
const MAX_DURATION_MS = 60 * 60 * 1000;

/** The watch rpc, with its path without the leading slash. */
const METHOD = WatchService.method.watch;
const NAME = `${WatchService.typeName}/${METHOD.name}`;
const checkRules = ruleCheck(METHOD.input);

/** The calls of the watch rpc, by every protocol, and what they have done since the process started. */
export class WatchCalls {
  readonly service = WatchService;
  readonly name = NAME;
  readonly sent = { reset: 0, changed: 0, heartbeat: 0 };
  readonly #streams: Streams;

  constructor(private readonly options: WatchOptions) {
    this.#streams = new Streams("watches", options.maxStreams, MAX_DURATION_MS, options.memory);
  }

  readonly open = (): number => this.#streams.count;

  /** As in ChangeStreams. */
  readonly lagMs = (): number => this.options.streams.lagMs;

  /**
   * A stream of events, of so many STREAM_UNITS. Throws ConnectError only. `client` aborts when the client is gone. `prepare`
   * changes each message for its encoding.
   */
  async *call(
    request: WatchRequest,
    client: AbortSignal,
    units: number,
    prepare = (message: WatchResponse): WatchResponse => message,
  ): AsyncGenerator<WatchResponse> {
    checkRules(request);
    const { signal, end } = this.#streams.begin(client, units);
    try {
      for await (const message of watch(this.options.streams, request, signal)) {
        const { case: type } = message.event;
        if (type !== undefined) this.sent[type]++;
        yield prepare(message);
      }
    } catch (error) {
      throw toConnectError(error, (defect) => this.options.report(defect, NAME), METHOD.input);
    } finally {
      end();
    }
    // The client is gone, or the stream has to end.
    throw signal.reason;
  }

  close(): void {
    this.#streams.close();
  }
}

const CHANGED = WatchResponseSchema.field.changed.number;
/** Of small field numbers. */
const TAG_BYTES = 1;

/**
 * The message with its tags encoded once for all streams that send it: connect-es encodes for each stream, and a second of
 * a busy ledger has thousands of tags. It copies the bytes of a field that it does not know. For protobuf only.
 * Saves 45 % of the CPU with 1,000 streams and 1,000 updates/s; can go when connect-es takes encoded messages.
 */
export const encodedOnce = memoizeLast((message: WatchResponse): WatchResponse => {
  const { event, generation, offset, recordTime, resumeToken } = message;
  if (event.case !== "changed") return message;
  const field = toBinary(WatchResponseSchema, create(WatchResponseSchema, { event }));
  const encoded = create(WatchResponseSchema, {
    generation,
    offset,
    ...(recordTime !== undefined && { recordTime }),
    resumeToken,
  });
  encoded.$unknown = [{ no: CHANGED, wireType: WireType.LengthDelimited, data: field.subarray(TAG_BYTES) }];
  return encoded;
});
