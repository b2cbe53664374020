/** Messages of the watch rpc as bytes. */
import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { WatchRequestSchema } from "../../../gen/offledger/watch/v1/watch_pb.js";
import { frameMessage } from "../../load/grpc.js";
import type { StreamLog } from "./stream-log.js";

const HEAD_BYTES = 5;
const EVENT_TYPES: readonly (string | undefined)[] = [undefined, "reset", "changed", "heartbeat"];
const OFFSET_FIELD = 5;

export const encodeRequest = (registrar: string | undefined): Buffer =>
  frameMessage(
    toBinary(
      WatchRequestSchema,
      create(WatchRequestSchema, { registrars: registrar === undefined ? [] : [registrar] }),
    ),
  );

/** Splits what arrives on a stream into messages. */
export class MessageReader {
  readonly #log: StreamLog;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(log: StreamLog) {
    this.#log = log;
  }

  read(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    // Most messages arrive in one chunk.
    if (this.#missing() > 0) return;
    let bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    while (bytes.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + bytes.readUInt32BE(1);
      if (bytes.length < end) break;
      this.#receive(bytes.subarray(HEAD_BYTES, end));
      bytes = bytes.subarray(end);
    }
    this.#chunks = bytes.length === 0 ? [] : [bytes];
    this.#length = bytes.length;
  }

  #missing(): number {
    const [first] = this.#chunks;
    if (first === undefined || first.length < HEAD_BYTES) return HEAD_BYTES - this.#length;
    return HEAD_BYTES + first.readUInt32BE(1) - this.#length;
  }

  /** Reads the type of the event and the offset. */
  #receive(message: Buffer): void {
    const reader = new BinaryReader(message);
    let [type, offset] = ["none", 0];
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      type = EVENT_TYPES[field] ?? type;
      if (field === OFFSET_FIELD && wireType === WireType.Varint) offset = Number(reader.int64());
      else reader.skip(wireType, field);
    }
    this.#log.receive(type, offset, message.length);
  }
}
