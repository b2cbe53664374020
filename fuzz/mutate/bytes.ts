/** Bytes that are nearly right. */
import type { Dice } from "../prng.js";

type Change = (dice: Dice, bytes: Buffer) => Buffer;

/** What is no UTF-8: bytes that never stand in it, an overlong form, a surrogate, beyond the last character, a beginning alone. */
const NOT_UTF8 = ["ff", "fe", "c080", "eda080", "f4908080", "e282", "80"].map((text) => Buffer.from(text, "hex"));

/** Numbers of varying length as protobuf writes them: the largest, one that never ends, lengths beyond any message. */
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

const changes: readonly Change[] = [
  function flipBit(dice, bytes) {
    const copy = Buffer.from(bytes);
    const at = dice.below(copy.length);
    if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << dice.below(8));
    return copy;
  },
  function setByte(dice, bytes) {
    const copy = Buffer.from(bytes);
    const at = dice.below(copy.length);
    if (at < copy.length) copy[at] = dice.pick([0, 1, 0x7f, 0x80, 0xff, dice.below(256)]);
    return copy;
  },
  // The lowest three bits of a field's head are the type that it has on the wire.
  function otherWireType(dice, bytes) {
    const copy = Buffer.from(bytes);
    const at = dice.chance(50) ? 0 : dice.below(copy.length);
    if (at < copy.length) copy[at] = ((copy[at] ?? 0) & 0xf8) | dice.below(8);
    return copy;
  },
  (dice, bytes) => bytes.subarray(0, dice.below(bytes.length)),
  (dice, bytes) => bytes.subarray(dice.below(bytes.length)),
  (dice, bytes) => insert(bytes, dice.below(bytes.length + 1), dice.pick(NOT_UTF8)),
  (dice, bytes) => insert(bytes, dice.below(bytes.length + 1), dice.pick(VARINTS)),
  (dice, bytes) => insert(bytes, dice.below(bytes.length + 1), dice.bytes(dice.between(1, 16))),
  function again(dice, bytes) {
    const from = dice.below(bytes.length);
    const slice = bytes.subarray(from, from + dice.between(1, 200));
    return insert(bytes, dice.below(bytes.length + 1), slice);
  },
  (dice) => dice.bytes(dice.below(100)),
];

/** The bytes with so many changes at most, and at least one. */
export function mutatedBytes(dice: Dice, bytes: Buffer, max = 4): Buffer {
  let changed = bytes;
  for (let left = dice.between(1, max); left > 0; left--) changed = dice.pick(changes)(dice, changed);
  return changed;
}
