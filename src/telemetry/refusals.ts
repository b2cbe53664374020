/** What the rules of the registry refused, kept for the operators of this process. */
import { toJson } from "@bufbuild/protobuf";
import type { Cause } from "../domain/errors.js";
import type { JsonObject } from "../util/json.js";
import type { RefusedRequest } from "../service/console-data.js";
import { type Refusal, type RequestObserver, statusName } from "./request-record.js";

const MAX_REFUSALS = 200;
/**
 * Maximum bytes of one request in JSON, and of all that are kept. The largest settlement that every registry has to support takes
 * about 28 KiB with ids of usual length, the largest at the default limits about 88 KiB.
 */
const MAX_REQUEST_BYTES = 128 * 1024;
const MAX_BYTES = 4 * 1024 * 1024;
/** A message takes at most about twice the bytes of its JSON by the count of `sizeUpTo`. */
const MAX_MESSAGE_SIZE = 2 * MAX_REQUEST_BYTES;
const MAX_MESSAGE_LENGTH = 4_000;
/** Maximum size of the causes of one refusal: a settlement may have hundreds. */
const MAX_CAUSES_SIZE = 8 * 1024;

interface Entry extends Omit<RefusedRequest, "request"> {
  /** The JSON of the request: encoding it costs a twentieth of what protobuf costs for choice arguments. */
  json: Buffer | undefined;
}

/** Keeps the latest refusals of this process with what was asked, for its operators. */
export class RefusalLog {
  /** Oldest first. */
  readonly #entries: Entry[] = [];
  #bytes = 0;

  /** `now` returns milliseconds since 1970. */
  constructor(private readonly now: () => number = Date.now) {}

  readonly observer: RequestObserver = ({ requestId, operation, protocol, outcome, refusal }) => {
    if (refusal === undefined) return;
    const json = encode(refusal);
    this.#bytes += json?.length ?? 0;
    this.#entries.push({
      requestId,
      time: this.now(),
      operation,
      protocol,
      status: statusName(outcome),
      message: refusal.message.slice(0, MAX_MESSAGE_LENGTH),
      causes: leading(refusal.causes),
      json,
    });
    this.#drop();
  };

  /** Newest first. */
  latest(): readonly RefusedRequest[] {
    return this.#entries.map(toRefused).toReversed();
  }

  /** The latest with this id: callers may use one twice. Undefined if it is not kept. */
  find(requestId: string): RefusedRequest | undefined {
    const found = this.#entries.findLast((entry) => entry.requestId === requestId);
    return found === undefined ? undefined : toRefused(found);
  }

  /** Drops the oldest refusals, then the oldest requests. */
  #drop(): void {
    if (this.#entries.length > MAX_REFUSALS) this.#forget(this.#entries.shift());
    for (const entry of this.#entries) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#forget(entry);
    }
  }

  #forget(entry: Entry | undefined): void {
    if (entry?.json === undefined) return;
    this.#bytes -= entry.json.length;
    entry.json = undefined;
  }
}

function toRefused({ json, ...entry }: Entry): RefusedRequest {
  // A request is an object in JSON.
  return { ...entry, request: json === undefined ? undefined : (JSON.parse(json.toString()) as JsonObject) };
}

function encode({ schema, request }: Refusal): Buffer | undefined {
  if (sizeUpTo(MAX_MESSAGE_SIZE, request) > MAX_MESSAGE_SIZE) return undefined;
  try {
    const json = Buffer.from(JSON.stringify(toJson(schema, request)));
    return json.length <= MAX_REQUEST_BYTES ? json : undefined;
  } catch {
    // A message may have values without JSON, such as a time out of range.
    return undefined;
  }
}

/** The first causes, as many as there is room for. */
function leading(causes: readonly Cause[]): readonly Cause[] {
  let room = MAX_CAUSES_SIZE;
  return causes.filter((cause) => (room -= sizeUpTo(MAX_CAUSES_SIZE, cause)) >= 0);
}

/** What a reference or a number counts for. */
const UNIT = 8;

/**
 * Roughly how many bytes a message or another plain value takes, but no more than just over `limit`: it stops counting
 * there, so that a large value costs no more than a small one.
 */
function sizeUpTo(limit: number, value: unknown): number {
  if (typeof value === "string") return UNIT + value.length;
  if (value instanceof Uint8Array) return UNIT + value.length;
  if (typeof value !== "object" || value === null) return UNIT;
  let size = UNIT;
  for (const [name, member] of Object.entries(value)) {
    size += name.length + sizeUpTo(limit - size, member);
    if (size > limit) break;
  }
  return size;
}
