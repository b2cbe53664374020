/**
 * Memory for answers, used again and again: what the system gives anew it gives a
 * page at a time, which takes ten times as long as to fill it, and what was used
 * last is still in the processor's cache.
 */

/** The least that is lent: enough for most answers. */
const SMALLEST = 32 * 1024;
/** How much is kept for later: so many pieces of at most so many bytes. */
const MOST = 32;
const LARGEST = 1024 * 1024;

const free: ArrayBufferLike[] = [];

/** Memory with anything in it. Who is done with it gives it back; what is not given back is collected. */
export function lend(length: number): Buffer {
  const index = free.findLastIndex(({ byteLength }) => byteLength >= length);
  const [known] = index === -1 ? [] : free.splice(index, 1);
  if (known !== undefined) return Buffer.from(known, 0, length);
  // Rounded up, so that it will do for the next one too.
  const size = length > LARGEST ? length : Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(length)));
  return Buffer.allocUnsafeSlow(size).subarray(0, length);
}

/** Nobody may look at it any more. */
export function giveBack({ buffer }: Buffer): void {
  if (free.length < MOST && buffer.byteLength <= LARGEST) free.push(buffer);
}
