import type { BinaryString } from "../encoding/binary-string.js";
import { combineChecksums, updateChecksum } from "./crc32.js";
import type { Deflated } from "./deflate.js";

/** Magic number, DEFLATE, no flags, no time, no level, unknown system (RFC 1952). */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
/** Of a stored block that is not the last, at a byte boundary. */
const STORED = 0x00;
/** LEN and NLEN, after the header of a stored block. */
const LENGTHS_BYTES = 4;
const MAX_STORED_BYTES = 65_535;
/** The last block: an empty one with fixed codes. */
const LAST_BLOCK = [0x03, 0x00] as const;
const TRAILER_BYTES = 8;

/** What the gzip format adds besides stored blocks. */
export const FRAME_BYTES = HEADER.length + 1 + LAST_BLOCK.length + TRAILER_BYTES;

/** What stored blocks take for a run of bytes, which may be empty, without the header of the first. */
export function storedLength(run: number): number {
  return LENGTHS_BYTES + run + (1 + LENGTHS_BYTES) * Math.max(0, Math.ceil(run / MAX_STORED_BYTES) - 1);
}

/** Writes a gzip member of deflated parts, and of bytes in stored blocks between them. */
export class GzipWriter {
  readonly #buffer: Buffer;
  #end: number;
  /** Where the bytes of the current stored block start. */
  #runStart: number;
  #checksum = 0;

  constructor(buffer: Buffer, start: number) {
    this.#buffer = buffer;
    this.#end = start + HEADER.copy(buffer, start);
    buffer[this.#end++] = STORED;
    this.#runStart = this.#end += LENGTHS_BYTES;
  }

  store(chunk: Uint8Array | BinaryString): void {
    let rest = chunk;
    while (rest.length > MAX_STORED_BYTES - (this.#end - this.#runStart)) {
      const room = MAX_STORED_BYTES - (this.#end - this.#runStart);
      this.#write(slice(rest, 0, room));
      rest = slice(rest, room, rest.length);
      this.#endRun();
      this.#buffer[this.#end++] = STORED;
      this.#runStart = this.#end += LENGTHS_BYTES;
    }
    this.#write(rest);
  }

  /** Replaces the byte that was stored last. */
  replaceLast(byte: number): void {
    this.#buffer[this.#end - 1] = byte;
  }

  deflated({ blocks, checksum, shift }: Deflated): void {
    this.#endRun();
    this.#write(blocks);
    this.#checksum = combineChecksums(this.#checksum, checksum, shift);
    this.#runStart = this.#end += LENGTHS_BYTES;
  }

  /** Returns the end. `length` is that of the uncompressed bytes. */
  finish(length: number): number {
    this.#endRun();
    for (const byte of LAST_BLOCK) this.#buffer[this.#end++] = byte;
    this.#end = this.#buffer.writeInt32LE(this.#checksum, this.#end);
    return this.#buffer.writeUInt32LE(length, this.#end);
  }

  /** Writes LEN and NLEN in front of the run. */
  #endRun(): void {
    const length = this.#end - this.#runStart;
    this.#buffer.writeUInt16LE(length, this.#runStart - LENGTHS_BYTES);
    this.#buffer.writeUInt16LE(MAX_STORED_BYTES - length, this.#runStart - LENGTHS_BYTES + 2);
    this.#checksum = updateChecksum(this.#checksum, this.#buffer, this.#runStart, this.#end);
  }

  #write(chunk: Uint8Array | BinaryString): void {
    if (typeof chunk === "string") this.#buffer.write(chunk, this.#end, chunk.length, "latin1");
    else this.#buffer.set(chunk, this.#end);
    this.#end += chunk.length;
  }
}

const slice = (chunk: Uint8Array | BinaryString, start: number, end: number): Uint8Array | BinaryString =>
  typeof chunk === "string" ? chunk.slice(start, end) : chunk.subarray(start, end);
