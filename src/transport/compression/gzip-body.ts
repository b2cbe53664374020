import type { BinaryString } from "../encoding/binary-string.js";
import { type Body, bytesOf, type ChunkList } from "../encoding/chunk-list.js";
import type { Deflated } from "./deflate.js";
import { DeflateCache } from "./deflate-cache.js";
import { slotOf } from "./deflate-slots.js";
import { FRAME_BYTES, GzipWriter, storedLength } from "./gzip-writer.js";

type Part = Uint8Array | BinaryString | number | Deflated;

const sharedCache = new DeflateCache();

/** A response in gzip, joined from the compressed forms of its chunks. Chunks without one are stored uncompressed. */
export class GzipBody implements Body {
  readonly length: number;
  readonly #parts: readonly Part[];
  readonly #plainLength: number;

  private constructor(parts: readonly Part[], length: number, plainLength: number) {
    this.#parts = parts;
    this.length = length;
    this.#plainLength = plainLength;
  }

  /** Undefined where gzip does not make the response shorter. */
  static of(message: ChunkList, cache = sharedCache): GzipBody | undefined {
    const parts: Part[] = [];
    let length = FRAME_BYTES;
    let run = 0;
    for (const [index, chunk] of message.chunks.entries()) {
      if (typeof chunk === "number") {
        parts.push(chunk);
        continue;
      }
      const bytes = bytesOf(chunk);
      const slot = slotOf(message, index);
      const deflated = slot === undefined ? undefined : cache.get(slot, bytes);
      if (deflated === undefined) {
        parts.push(bytes);
        run += bytes.length;
      } else {
        length += storedLength(run) + deflated.blocks.length;
        parts.push(deflated, lastByteOf(bytes));
        run = 1;
      }
    }
    length += storedLength(run);
    return length < message.length ? new GzipBody(parts, length, message.length) : undefined;
  }

  write(buffer: Buffer, start: number): number {
    const writer = new GzipWriter(buffer, start);
    for (const part of this.#parts) {
      if (typeof part === "number") writer.replaceLast(part);
      else if (typeof part === "string" || part instanceof Uint8Array) writer.store(part);
      else writer.deflated(part);
    }
    return writer.finish(this.#plainLength);
  }
}

/** The comma after a JSON element may become a bracket, so it is not in the compressed form. */
const lastByteOf = (bytes: Uint8Array | BinaryString): Uint8Array | BinaryString =>
  typeof bytes === "string" ? bytes.charAt(bytes.length - 1) : bytes.subarray(-1);
