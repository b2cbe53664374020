/** Valid and invalid gRPC envelopes: a flag, the length, the message. */
import type { Prng } from "../prng.js";

function encodeEnvelope(message: Buffer, flags: number, length = message.length): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(length >>> 0, 1);
  return Buffer.concat([head, message]);
}

export function fuzzEnvelope(prng: Prng, message: Buffer, isCompressed: boolean): Buffer {
  const flags = isCompressed ? 1 : 0;
  const valid = encodeEnvelope(message, flags);
  switch (prng.below(20)) {
    case 0:
      return encodeEnvelope(message, prng.pick([1, 2, 3, 0x80, 0x81, 0xff]));
    case 1:
      return encodeEnvelope(
        message,
        flags,
        prng.pick([0, 1, message.length - 1, message.length + 1, 1 << 20, 0x7fffffff, 0xffffffff]),
      );
    case 2:
      return Buffer.concat(Array.from({ length: prng.between(2, 5) }, () => valid));
    case 3:
      return Buffer.alloc(0);
    case 4:
      return valid.subarray(0, prng.below(valid.length));
    case 5:
      return Buffer.concat([valid, prng.bytes(prng.between(1, 10))]);
    case 6:
      return message;
    default:
      return valid;
  }
}
