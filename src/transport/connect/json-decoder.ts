import { type DescMessage, fromJsonString, type JsonValue } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { checkTypes, decimalsAsText } from "../decoding/decode.js";
import { decodeUtf8, EMPTY_BODY, parseJson, quoteLongNumbers } from "../decoding/json.js";
import { rejection } from "../errors.js";

/**
 * A `textDecoder` for connect-es: accepts the JSON texts that the fast path accepts, and throws invalid_argument. With
 * the schema of the message the error names a field of the wrong type.
 */
export const jsonDecoder = (schema?: DescMessage) => ({
  decode({ buffer, byteOffset, byteLength }: Uint8Array = new Uint8Array()): string {
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    const parsed = parseJson(bytes);
    if (parsed === undefined) throw rejection("MALFORMED_MESSAGE", EMPTY_BODY);
    const value = schema === undefined ? parsed : decimalsAsText(schema, parsed);
    if (schema !== undefined) checkTypes(schema, value);
    const text = quoteLongNumbers(decodeUtf8(bytes));
    return value === parsed ? withoutDuplicateKeys(text, value) : stringify(value, text);
  },
});

/** Of a message with changed fields. One that is nested too deep stays as it is, and is refused for these fields. */
function stringify(value: JsonValue, text: string): string {
  try {
    return JSON.stringify(value);
  } catch {
    return text;
  }
}

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
