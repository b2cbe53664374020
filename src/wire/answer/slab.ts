/**
 * Joins texts and pieces in memory that is taken in large slabs: memory of its
 * own for each answer would keep the garbage collector busy. A slab is let go
 * when the last answer in it has been sent.
 */
const SLAB = 256 * 1024;

let slab = Buffer.alloc(0);
let used = 0;

/** `separator` is the character between the pieces. */
export function joined(head: string, pieces: readonly Buffer[], separator: number, end: string): Buffer {
  let length = Buffer.byteLength(head) + end.length + Math.max(0, pieces.length - 1);
  for (const piece of pieces) length += piece.length;
  const into = take(length);
  let at = into.write(head, 0);
  for (let index = 0; index < pieces.length; index++) {
    const piece = pieces[index];
    if (piece === undefined) continue;
    if (index > 0) into[at++] = separator;
    into.set(piece, at);
    at += piece.length;
  }
  into.write(end, at, "latin1");
  return into;
}

function take(length: number): Buffer {
  if (length > SLAB / 4) return Buffer.allocUnsafeSlow(length);
  if (used + length > slab.length) {
    slab = Buffer.allocUnsafeSlow(SLAB);
    used = 0;
  }
  const part = slab.subarray(used, used + length);
  used += length;
  return part;
}
