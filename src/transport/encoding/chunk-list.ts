import type { BinaryString } from "./binary-string.js";

type Chunk = Uint8Array | BinaryString | number;

/** An encoded response. Chunks are joined in a pooled buffer when sent; in V8's heap each would touch fresh memory. */
export class ChunkList {
  readonly #chunks: Chunk[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(chunk: Uint8Array | BinaryString): void {
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

  /** Writes all chunks into a buffer from `start` on, and returns the end. The buffer must have `length` bytes left. */
  write(buffer: Buffer, start: number): number {
    let end = start;
    for (const chunk of this.#chunks) {
      if (typeof chunk === "number") buffer[end - 1] = chunk;
      else {
        if (typeof chunk === "string") buffer.write(chunk, end, chunk.length, "latin1");
        else buffer.set(chunk, end);
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
