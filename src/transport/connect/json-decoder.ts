import { fromJsonString, type JsonValue } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { decodeUtf8, EMPTY_BODY, parseJson } from "../decoding/json-text.js";
import { refusal } from "../error-details.js";

/** The `textDecoder` of connect-es: accepts the JSON texts that the fast path accepts, and throws invalid_argument. */
export const jsonDecoder = {
  decode({ buffer, byteOffset, byteLength }: Uint8Array = new Uint8Array()): string {
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    const value = parseJson(bytes);
    if (value === undefined) throw refusal("MALFORMED_MESSAGE", EMPTY_BODY);
    return withoutDuplicateKeys(decodeUtf8(bytes), value);
  },
};

/** The library refuses duplicate keys. Here the last one counts, as JSON.parse has it. */
function withoutDuplicateKeys(text: string, value: JsonValue): string {
  try {
    // An empty message ignores all keys, so that only the check of the library is left.
    fromJsonString(EmptySchema, text, { ignoreUnknownFields: true });
    return text;
  } catch {
    return JSON.stringify(value);
  }
}
