import { create, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { type WatchRequest, WatchResponseSchema } from "../../../gen/offledger/watch/v1/watch_pb.js";
import type { WatchBinding } from "../../service/watch.js";
import { memoizeLast } from "../../util/memoize.js";
import { checkRules } from "../decoding/validation.js";
import { toConnectError } from "../errors.js";
import type { Budget } from "../limits.js";
import type { Report } from "../rpcs.js";
import { Streams } from "./streams.js";

export type WatchResponse = MessageShape<typeof WatchResponseSchema>;

/**
 * A stream of events, of so many STREAM_UNITS. Throws ConnectError only. `client` aborts when the client is gone. `prepare`
 * changes each message for its encoding.
 */
type WatchCall = (
  request: WatchRequest,
  client: AbortSignal,
  units: number,
  prepare?: (message: WatchResponse) => WatchResponse,
) => AsyncGenerator<WatchResponse>;

export interface WatchOptions {
  readonly binding: WatchBinding;
  /** The maximum number of streams; an operator's setting. */
  readonly maxStreams: number;
  /** Counts for metrics. */
  readonly statistics: WatchStatistics;
}

/** What the streams have done since the process started. */
interface WatchStatistics {
  /** Streams that are open; a function because the server owns them. */
  open: () => number;
  /** As in ChangeStreams. */
  readonly lagMs: () => number;
  readonly sent: { reset: number; changed: number; heartbeat: number };
}

export const createStatistics = (lagMs: () => number): WatchStatistics => ({
  open: () => 0,
  lagMs,
  sent: { reset: 0, changed: 0, heartbeat: 0 },
});

/** It bounds streams whose client is gone without closing them, and balances clients over processes. */
const MAX_DURATION_MS = 60 * 60 * 1000;

/** The calls of the watch rpc, by every protocol. */
export class WatchCalls {
  readonly #options: WatchOptions;
  readonly #streams: Streams;
  readonly #report: Report;

  /** `memory` in STREAM_UNITS. */
  constructor(options: WatchOptions, memory: Budget, report: Report) {
    this.#options = options;
    this.#streams = new Streams("watches", options.maxStreams, MAX_DURATION_MS, memory);
    this.#report = report;
    options.statistics.open = () => this.#streams.count;
  }

  get name(): string {
    return `${this.#options.binding.service.typeName}/${this.#options.binding.service.method.watch.name}`;
  }

  readonly call: WatchCall = async function* (
    this: WatchCalls,
    request: WatchRequest,
    client: AbortSignal,
    units: number,
    prepare = (message: WatchResponse) => message,
  ) {
    const { binding, statistics } = this.#options;
    const { input } = binding.service.method.watch;
    checkRules(input, request);
    const { signal, end } = this.#streams.begin(client, units);
    try {
      for await (const message of binding.watch(request, signal)) {
        const { case: type } = message.event;
        if (type !== undefined) statistics.sent[type]++;
        yield prepare(message);
      }
    } catch (error) {
      throw toConnectError(error, (defect) => this.#report(defect, this.name), input);
    } finally {
      end();
    }
    // The client is gone, or the stream has to end.
    throw signal.reason;
  }.bind(this);

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
