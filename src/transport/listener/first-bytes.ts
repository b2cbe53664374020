// How a connection is read depends on its first bytes. The parsers of Node.js decide what they are.

const HEAD_END = "\r\n\r\n";
/** At the end of a line, since the head is cut before its last line end. */
const CONTENT_LENGTH = /\r\ncontent-length:[ \t]*(\d{1,15})[ \t]*(?:\r\n|$)/i;

/**
 * Whether the first bytes of a connection are at most one request of HTTP/1.1 with a body of known length, so that they
 * hold no further requests and no chunks.
 */
export function isOneRequest(bytes: Buffer): boolean {
  const end = bytes.indexOf(HEAD_END);
  if (end === -1) return false;
  const [, length] = CONTENT_LENGTH.exec(bytes.toString("latin1", 0, end)) ?? [];
  return length !== undefined && bytes.length - end - HEAD_END.length <= Number(length);
}

const PREFACE_BYTES = 24;
const FRAME_HEADER_BYTES = 9;
const HEADERS = 1;

/** How many requests the first bytes of an HTTP/2 connection begin: its HEADERS frames, RFC 9113, section 4.1. */
export function countHttp2Requests(bytes: Buffer): number {
  let count = 0;
  for (let at = PREFACE_BYTES; at + FRAME_HEADER_BYTES <= bytes.length;) {
    if (bytes[at + 3] === HEADERS) count++;
    at += FRAME_HEADER_BYTES + bytes.readUIntBE(at, 3);
  }
  return count;
}
