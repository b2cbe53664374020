/** The framing of gRPC: a flag, the length, the message; and what is not quite that. */
import type { Dice } from "../prng.js";

function envelope(message: Buffer, flags: number, length = message.length): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(length >>> 0, 1);
  return Buffer.concat([head, message]);
}

/** A message in its frame: mostly as it should be. */
export function enveloped(dice: Dice, message: Buffer, isPacked: boolean): Buffer {
  const flags = isPacked ? 1 : 0;
  const right = envelope(message, flags);
  switch (dice.below(20)) {
    case 0:
      return envelope(message, dice.pick([1, 2, 3, 0x80, 0x81, 0xff]));
    case 1:
      return envelope(
        message,
        flags,
        dice.pick([0, 1, message.length - 1, message.length + 1, 1 << 20, 0x7fffffff, 0xffffffff]),
      );
    case 2:
      return Buffer.concat(Array.from({ length: dice.between(2, 5) }, () => right));
    case 3:
      return Buffer.alloc(0);
    case 4:
      return right.subarray(0, dice.below(right.length));
    case 5:
      return Buffer.concat([right, dice.bytes(dice.between(1, 10))]);
    case 6:
      return message;
    default:
      return right;
  }
}
