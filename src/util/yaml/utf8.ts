const NEWLINE = 10;

/** The text without a byte order mark; or the first line (from 1) with bytes that are not UTF-8. */
export type DecodedText =
  | { readonly text: string; readonly line?: undefined }
  | { readonly text?: undefined; readonly line: number };

export function decodeUtf8(bytes: Uint8Array): DecodedText {
  const text = tryDecode(bytes);
  return text === undefined ? { line: firstBadLine(bytes) } : { text };
}

function firstBadLine(bytes: Uint8Array): number {
  // No byte of a longer character is a newline, so each line can be decoded alone.
  for (let line = 1, start = 0; ; line++) {
    const newline = bytes.indexOf(NEWLINE, start);
    if (newline === -1 || tryDecode(bytes.subarray(start, newline)) === undefined) return line;
    start = newline + 1;
  }
}

function tryDecode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
