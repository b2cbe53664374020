const HEAD_END = "\r\n\r\n";
/** At the end of a line, since the head is cut before its last line end. */
const CONTENT_LENGTH = /\r\ncontent-length:[ \t]*(\d{1,15})[ \t]*(?:\r\n|$)/i;

/**
 * Whether the first bytes of a connection are at most one request of HTTP/1.1 with a body of known length, so that they
 * hold no further requests and no chunks. For a choice between ways to read them; the parser of Node.js decides what they are.
 */
export function isOneRequest(bytes: Buffer): boolean {
  const end = bytes.indexOf(HEAD_END);
  if (end === -1) return false;
  const [, length] = CONTENT_LENGTH.exec(bytes.toString("latin1", 0, end)) ?? [];
  return length !== undefined && bytes.length - end - HEAD_END.length <= Number(length);
}
