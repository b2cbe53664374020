import { constants, deflateRawSync } from "node:zlib";
import { type BinaryString, binaryStringOf } from "../encoding/binary-string.js";
import { shiftOf, updateChecksum } from "./crc32.js";

/**
 * A part of a response as DEFLATE blocks (RFC 1951). It refers to nothing outside, so it fits into any response. It ends
 * within the header of a stored block, before LEN: the bytes that follow it in the response go there.
 */
export interface Deflated {
  readonly blocks: BinaryString;
  /** Of the uncompressed bytes, as are the next two. */
  readonly length: number;
  readonly checksum: number;
  readonly shift: number;
}

/** Z_SYNC_FLUSH ends at a byte boundary, with an empty stored block. */
const OPTIONS = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };

/** LEN and NLEN of an empty stored block. */
const EMPTY = Buffer.from([0x00, 0x00, 0xff, 0xff]);

/** Undefined where compression does not make it shorter. */
export function deflate(bytes: Uint8Array): Deflated | undefined {
  const stream = deflateRawSync(bytes, OPTIONS);
  // The stored block that follows costs four bytes.
  if (stream.length >= bytes.length || !stream.subarray(-EMPTY.length).equals(EMPTY)) return undefined;
  return {
    blocks: binaryStringOf(stream.subarray(0, -EMPTY.length)),
    length: bytes.length,
    checksum: updateChecksum(0, bytes, 0, bytes.length),
    shift: shiftOf(bytes.length),
  };
}
