/** The few forms of the protobuf encoding that a choice context is made of. */

/** Joins pieces behind a tag and their length. */
export function delimited(tag: number, pieces: readonly Uint8Array[]): Buffer {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const head = 1 + varintSize(length);
  const joined = Buffer.allocUnsafe(head + length);
  joined[0] = tag;
  writeVarint(joined, 1, length);
  let at = head;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/** A field of text. */
export function text(tag: number, value: string): Buffer {
  const length = Buffer.byteLength(value);
  const head = 1 + varintSize(length);
  const written = Buffer.allocUnsafe(head + length);
  written[0] = tag;
  writeVarint(written, 1, length);
  written.write(value, head);
  return written;
}

/** The tag of a field of text, bytes or a message. */
export const tagOf = (field: number): number => (field << 3) | 2;

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size++;
  return size;
}

function writeVarint(into: Buffer, at: number, value: number): void {
  let rest = value;
  let to = at;
  for (; rest > 127; rest = Math.floor(rest / 128)) into[to++] = (rest % 128) | 128;
  into[to] = rest;
}
