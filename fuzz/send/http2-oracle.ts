/** The answers of HTTP/2 in the bytes of a connection. */
import { frameHead, type } from "./frames.js";
import type { Outcome } from "../input.js";

/** Statuses that stand in the static table of HPACK, by their place in it. */
const STATIC: Readonly<Record<number, number>> = { 8: 200, 9: 204, 10: 206, 11: 304, 12: 400, 13: 404, 14: 500 };

/** The status that a block of headers begins with; undefined for trailers, and for what only a table would tell. */
function statusIn(block: Buffer): number | undefined {
  let at = 0;
  // A change of the table's size may stand before it; the number of one is short here.
  while (at < block.length && ((block[at] ?? 0) & 0xe0) === 0x20) at += ((block[at] ?? 0) & 0x1f) === 0x1f ? 3 : 1;
  const first = block[at] ?? 0;
  if ((first & 0x80) !== 0) return STATIC[first & 0x7f];
  const name = (first & 0x40) === 0 ? first & 0x0f : first & 0x3f;
  // Three digits are never longer as they are than by the code of Huffman.
  if (name < 8 || name > 14 || block[at + 1] !== 3) return undefined;
  return Number(block.toString("latin1", at + 2, at + 5));
}

/** Judges all that came back. */
export function judgeHttp2(bytes: Buffer): Outcome {
  let came = "nothing";
  for (let at = 0; at + 9 <= bytes.length;) {
    const head = frameHead(bytes, at);
    const payload = bytes.subarray(at + 9, at + 9 + head.length);
    if (head.type === type.HEADERS) {
      const status = statusIn(payload);
      if (status !== undefined) came = String(status);
      if (status !== undefined && status >= 500) return { came, wrong: `status ${status} on stream ${head.stream}` };
    }
    if (head.type === type.GOAWAY) came = `goaway ${payload.length >= 8 ? payload.readUInt32BE(4) : ""}`;
    if (head.type === type.RST_STREAM && came === "nothing")
      came = `reset ${payload.length >= 4 ? payload.readUInt32BE(0) : ""}`;
    at += 9 + head.length;
  }
  return { came };
}
