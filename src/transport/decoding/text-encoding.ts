import { configureTextEncoding } from "@bufbuild/protobuf/wire";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strictDecoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/**
 * Makes @bufbuild/protobuf keep U+FEFF at the start of a string, as JSON and the fast path do. By default it takes it
 * for a byte order mark and drops it. Applies to the whole process.
 */
export function keepLeadingByteOrderMarks(): void {
  configureTextEncoding({
    encodeUtf8: (text) => encoder.encode(text),
    decodeUtf8: (bytes, strict) => (strict === true ? strictDecoder : decoder).decode(bytes),
    checkUtf8: (text) => text.isWellFormed(),
  });
}
