import type { BinaryString } from "./binary-string.js";
import type { CachedEntry } from "./entry-cache.js";

/** A number replaces the last byte before it. */
export type Chunk = Uint8Array | BinaryString | CachedEntry | number;

/** What is sent. */
export interface Body {
  readonly length: number;
  /** Writes it into a buffer from `start` on, and returns the end. The buffer must have `length` bytes left. */
  write(buffer: Buffer, start: number): number;
}

/** An encoded response. Its chunks are joined when it is sent. */
export class ChunkList implements Body {
  readonly #chunks: Chunk[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(chunk: Uint8Array | BinaryString | CachedEntry): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** Closes a JSON list or object whose elements end in commas: the bracket replaces the last comma. */
  close(bracket: "}" | "]", isEmpty: boolean): void {
    if (isEmpty) this.add(bracket);
    else this.#chunks.push(bracket.charCodeAt(0));
  }

  addLengthPrefixed(prefix: (length: number) => BinaryString, addContent: () => void): void {
    const index = this.#chunks.push("") - 1;
    const before = this.#length;
    addContent();
    const header = prefix(this.#length - before);
    this.#chunks[index] = header;
    this.#length += header.length;
  }

  write(buffer: Buffer, start: number): number {
    let end = start;
    for (const chunk of this.#chunks) {
      if (typeof chunk === "number") buffer[end - 1] = chunk;
      else {
        if (typeof chunk === "string") buffer.write(chunk, end, chunk.length, "latin1");
        else buffer.set(ArrayBuffer.isView(chunk) ? chunk : chunk.encoded, end);
        end += chunk.length;
      }
    }
    return end;
  }
}

export function singleChunk(chunk: Uint8Array | BinaryString): ChunkList {
  const chunks = new ChunkList();
  chunks.add(chunk);
  return chunks;
}
