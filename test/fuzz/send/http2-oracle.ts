/** Judges the bytes of an HTTP/2 connection: every status is below 500. */
import { readFrameHeader, type } from "./frames.js";
import type { Outcome } from "../input.js";

/** Statuses by their index in the static table of HPACK (RFC 7541, appendix A). */
const STATIC_TABLE: Readonly<Record<number, number>> = { 8: 200, 9: 204, 10: 206, 11: 304, 12: 400, 13: 404, 14: 500 };

/** The status at the start of a header block; undefined for trailers, and for entries of the dynamic table. */
function readStatus(block: Buffer): number | undefined {
  let at = 0;
  // Skips a dynamic table size update, whose integer is short here.
  while (at < block.length && ((block[at] ?? 0) & 0xe0) === 0x20) at += ((block[at] ?? 0) & 0x1f) === 0x1f ? 3 : 1;
  const first = block[at] ?? 0;
  if ((first & 0x80) !== 0) return STATIC_TABLE[first & 0x7f];
  const name = (first & 0x40) === 0 ? first & 0x0f : first & 0x3f;
  // Huffman coding does not shorten three digits, so they are literal.
  if (name < 8 || name > 14 || block[at + 1] !== 3) return undefined;
  return Number(block.toString("latin1", at + 2, at + 5));
}

export function judgeHttp2(bytes: Buffer): Outcome {
  let result = "nothing";
  for (let at = 0; at + 9 <= bytes.length;) {
    const head = readFrameHeader(bytes, at);
    const payload = bytes.subarray(at + 9, at + 9 + head.length);
    if (head.type === type.HEADERS) {
      const status = readStatus(payload);
      if (status !== undefined) result = String(status);
      if (status !== undefined && status >= 500) return { result, fault: `status ${status} on stream ${head.stream}` };
    }
    if (head.type === type.GOAWAY) result = `goaway ${payload.length >= 8 ? payload.readUInt32BE(4) : ""}`;
    if (head.type === type.RST_STREAM && result === "nothing")
      result = `reset ${payload.length >= 4 ? payload.readUInt32BE(0) : ""}`;
    at += 9 + head.length;
  }
  return { result };
}
