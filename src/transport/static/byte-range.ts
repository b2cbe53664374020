export interface ByteRange {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/**
 * The range that a Range header asks for (RFC 9110, 14.1.2); undefined for the whole. A server may ignore the header.
 * This one does where it is malformed, names several ranges, or one outside of the content.
 */
export function byteRange(header: string | undefined, length: number): ByteRange | undefined {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  const start = first === "" ? Math.max(0, length - Number(last)) : Number(first);
  const end = first === "" || last === "" ? length : Math.min(length, Number(last) + 1);
  return start < end ? { start, end } : undefined;
}
