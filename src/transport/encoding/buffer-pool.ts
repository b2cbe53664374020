/**
 * Memory for answers, used again and again: what the system gives anew it gives a
 * page at a time, which takes ten times as long as to fill it, and what was used
 * last is still in the processor's cache.
 */

/** How much is kept for later: so many pieces of so many bytes. */
const MOST = 32;
const LEAST = 64 * 1024;
const LARGEST = 1024 * 1024;

const free: Buffer[] = [];

/** Memory for so many bytes or more, with anything in it. Who is done with it gives it back; what is not given back is collected. */
export function acquire(length: number): Buffer {
  const last = free.length - 1;
  for (let at = last; at >= 0; at--) {
    const known = free[at];
    if (known === undefined || known.length < length) continue;
    // Nearly always it is the last.
    if (at === last) free.pop();
    else free.splice(at, 1);
    return known;
  }
  // Rounded up, so that it will do for the next one too.
  return Buffer.allocUnsafeSlow(length > LARGEST ? length : Math.max(LEAST, 2 ** Math.ceil(Math.log2(length))));
}

/** Takes what was lent. Nobody may look at it any more. */
export function release(memory: Buffer): void {
  if (free.length < MOST && memory.length <= LARGEST) free.push(memory);
}
