import { type DescMessage, type JsonValue } from "@bufbuild/protobuf";
import { checkTypes, decimalsAsText } from "../decoding/decode.js";
import { EMPTY_BODY, parseJson } from "../decoding/json.js";
import { JSON_WRITE_OPTIONS } from "../encoding/encodable-response.js";
import { rejection } from "../errors.js";

/**
 * Options of connect-es for JSON. The decoder accepts what the short way and REST accept: decimals as numbers, the last of
 * duplicate keys. `textDecoder` is an option that only the types of its serialization name.
 */
export const jsonOptions = (schema: DescMessage) => ({
  ...JSON_WRITE_OPTIONS,
  ignoreUnknownFields: true,
  textDecoder: { decode: (bytes: Uint8Array = new Uint8Array()) => JSON.stringify(readJson(schema, bytes)) },
});

function readJson(schema: DescMessage, { buffer, byteOffset, byteLength }: Uint8Array): JsonValue {
  const parsed = parseJson(Buffer.from(buffer, byteOffset, byteLength));
  if (parsed === undefined) throw rejection("MALFORMED_MESSAGE", EMPTY_BODY);
  const value = decimalsAsText(schema, parsed);
  checkTypes(schema, value);
  return value;
}
