/** Mutations of bytes. */
import type { Prng } from "../prng.js";

type Mutation = (prng: Prng, bytes: Buffer) => Buffer;

/** Invalid UTF-8: impossible bytes, an overlong form, a surrogate, a code point out of range, a truncated sequence. */
const NOT_UTF8 = ["ff", "fe", "c080", "eda080", "f4908080", "e282", "80"].map((text) => Buffer.from(text, "hex"));

/** Protobuf varints: the maximum, one without an end, lengths larger than any message, padded zeros. */
const VARINTS = [
  "ffffffffffffffffff01",
  "ffffffffffffffffffffffff",
  "ffffffff0f",
  "ffffffff07",
  "80808000",
  "808040",
].map((text) => Buffer.from(text, "hex"));

const insert = (bytes: Buffer, at: number, more: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]);

const mutations: readonly Mutation[] = [
  function flipBit(prng, bytes) {
    const copy = Buffer.from(bytes);
    const at = prng.below(copy.length);
    if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << prng.below(8));
    return copy;
  },
  function setByte(prng, bytes) {
    const copy = Buffer.from(bytes);
    const at = prng.below(copy.length);
    if (at < copy.length) copy[at] = prng.pick([0, 1, 0x7f, 0x80, 0xff, prng.below(256)]);
    return copy;
  },
  // The lowest three bits of a field tag are its wire type.
  function otherWireType(prng, bytes) {
    const copy = Buffer.from(bytes);
    const at = prng.chance(50) ? 0 : prng.below(copy.length);
    if (at < copy.length) copy[at] = ((copy[at] ?? 0) & 0xf8) | prng.below(8);
    return copy;
  },
  (prng, bytes) => bytes.subarray(0, prng.below(bytes.length)),
  (prng, bytes) => bytes.subarray(prng.below(bytes.length)),
  (prng, bytes) => insert(bytes, prng.below(bytes.length + 1), prng.pick(NOT_UTF8)),
  (prng, bytes) => insert(bytes, prng.below(bytes.length + 1), prng.pick(VARINTS)),
  (prng, bytes) => insert(bytes, prng.below(bytes.length + 1), prng.bytes(prng.between(1, 16))),
  function duplicateSlice(prng, bytes) {
    const from = prng.below(bytes.length);
    const slice = bytes.subarray(from, from + prng.between(1, 200));
    return insert(bytes, prng.below(bytes.length + 1), slice);
  },
  (prng) => prng.bytes(prng.below(100)),
];

/** Applies one to `max` mutations. */
export function mutateBytes(prng: Prng, bytes: Buffer, max = 4): Buffer {
  let changed = bytes;
  for (let left = prng.between(1, max); left > 0; left--) changed = prng.pick(mutations)(prng, changed);
  return changed;
}
