import type { BinaryString } from "./binary-string.js";

/**
 * Bytes or octets that were written before, as most of an answer is; octets that
 * are written for it; or one byte that takes the place of the last, as a bracket
 * takes that of the comma behind the last element.
 */
type Piece = Uint8Array | BinaryString | number;

/**
 * An answer in pieces, which are put together where it is sent, in memory that is
 * used again and again. As one text it would be put together in memory that is new
 * each time, of which nothing is in the processor's caches, and which has to be
 * collected.
 */
export class ChunkList {
  readonly #all: Piece[] = [];
  #length = 0;

  /** In bytes. */
  get length(): number {
    return this.#length;
  }

  add(piece: Uint8Array | BinaryString): void {
    this.#all.push(piece);
    this.#length += piece.length;
  }

  /** Closes a list whose elements have commas behind them. */
  close(bracket: "}" | "]", isEmpty: boolean): void {
    if (isEmpty) this.add(bracket);
    else this.#all.push(bracket.charCodeAt(0));
  }

  /** Adds what `add` adds, and before it what `head` makes of its length. */
  addLengthPrefixed(head: (length: number) => BinaryString, add: () => void): void {
    const at = this.#all.push("") - 1;
    const before = this.#length;
    add();
    const binary = head(this.#length - before);
    this.#all[at] = binary;
    this.#length += binary.length;
  }

  /** Writes all of it into some memory, which has to have room for it from `from` on, and gives where it ends there. */
  write(memory: Buffer, from: number): number {
    let at = from;
    for (const piece of this.#all) {
      if (typeof piece === "number") memory[at - 1] = piece;
      else {
        if (typeof piece === "string") memory.write(piece, at, piece.length, "latin1");
        else memory.set(piece, at);
        at += piece.length;
      }
    }
    return at;
  }
}

/** An answer of one piece. */
export function singleChunk(piece: Uint8Array | BinaryString): ChunkList {
  const chunks = new ChunkList();
  chunks.add(piece);
  return chunks;
}
