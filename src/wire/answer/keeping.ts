/**
 * Where pieces stand that are written once and put into many answers. Small ones
 * stand together, since memory of one's own takes as much as they do; they are of
 * contracts that other contracts refer to, which live long. Larger ones, of contracts
 * that may come and go, have their own, or one that stays would hold what is gone
 * beside it.
 */
import type { Octets } from "./octets.js";

const SMALL = 1_024;
const SHARED = 16 * 1_024;

let shared = Buffer.allocUnsafeSlow(SHARED);
let used = 0;

/** The same as bytes, to be kept. */
export function kept(octets: Octets): Uint8Array {
  const { length } = octets;
  const memory = length <= SMALL ? part(length) : Buffer.allocUnsafeSlow(length);
  memory.write(octets, "latin1");
  return memory;
}

function part(length: number): Buffer {
  if (used + length > SHARED) {
    shared = Buffer.allocUnsafeSlow(SHARED);
    used = 0;
  }
  used += length;
  return shared.subarray(used - length, used);
}
