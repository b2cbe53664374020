/**
 * CRC-32 of a response from the checksums of its parts, for responses that are joined from compressed chunks; goes with
 * deflate-cache.ts. Intermediate values are signed: V8 keeps them out of the heap.
 */
import * as zlib from "node:zlib";

/** The polynomial of gzip, with the coefficient of x^31 in the lowest bit. */
const POLYNOMIAL = 0xedb88320;
const ONE = 0x80000000;
/** Below this length a call of zlib costs more than the table. */
const MIN_NATIVE_BYTES = 96;

/** Node.js 22.0 and 22.1 have none. */
const native: typeof zlib.crc32 | undefined = zlib.crc32;

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = timesX(value);
  return value;
});

/** The checksum of what `checksum` covers, followed by the bytes from `start` to `end`. */
export function updateChecksum(checksum: number, bytes: Uint8Array, start: number, end: number): number {
  if (native !== undefined && end - start >= MIN_NATIVE_BYTES) {
    return native(bytes.subarray(start, end), checksum >>> 0) | 0;
  }
  let value = ~checksum;
  for (let at = start; at < end; at++) value = (value >>> 8) ^ (table[(value ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
  return ~value;
}

/**
 * The checksum of two parts together. `shift` is that of the second part: `shiftOf` its length, computed once since it
 * costs more than the rest.
 */
export const combineChecksums = (first: number, second: number, shift: number): number =>
  multiply(shift, first) ^ second;

const squares = [timesX(ONE)];
for (let power = 1; power < 32; power++) {
  const square = squares[power - 1] ?? 0;
  squares.push(multiply(square, square));
}

/** x to the number of bits in `length` bytes, modulo the polynomial. `length` is below 2^29. */
export function shiftOf(length: number): number {
  let product: number = ONE | 0;
  for (let bits = length * 8, power = 0; bits !== 0; bits >>>= 1, power++) {
    if ((bits & 1) === 1) product = multiply(squares[power] ?? 0, product);
  }
  return product;
}

/** The product of two polynomials over GF(2), modulo POLYNOMIAL. */
function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  // Shifted to the left, so that the coefficient in question is the sign. Stops at the last one.
  for (let rest = a | 0; rest !== 0; rest <<= 1) {
    if (rest < 0) product ^= factor;
    factor = timesX(factor);
  }
  return product;
}

/** Bits are reversed: a shift to the right multiplies by x. */
function timesX(value: number): number {
  return (value & 1) === 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
}
