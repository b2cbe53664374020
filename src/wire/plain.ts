/**
 * Requests whose fields are texts, booleans and objects, which most are, from
 * JSON without the library's reflection: it costs more than all the rules. What
 * is not of the expected form in every detail is left to the library, whose
 * errors then tell.
 */
import {
  create,
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";

/** Gives the message, or undefined where the library has to look at it. */
export type PlainReader = (json: JsonObject) => Message | undefined;

type Fits = (value: JsonValue) => boolean;

/** No request is nested deeper for a reason. */
const DEEPEST = 50;

/** The reader for a message; undefined where it has fields of other types. */
export function plainReader(schema: DescMessage): PlainReader | undefined {
  const readers = new Map<string, { readonly name: string; readonly fits: Fits }>();
  for (const field of schema.fields) {
    const fits = fitsOf(field);
    if (fits === undefined) return undefined;
    readers.set(field.jsonName, { name: field.localName, fits });
    readers.set(field.name, { name: field.localName, fits });
  }
  return (json) => {
    // What the fields of this message are called, the reader above has looked up.
    const message = create(schema) as Message & Record<string, unknown>;
    for (const key in json) {
      const reader = readers.get(key);
      const value = json[key];
      if (reader === undefined || value === undefined) continue;
      if (!reader.fits(value)) return undefined;
      message[reader.name] = value;
    }
    return message;
  };
}

function fitsOf(field: DescField): Fits | undefined {
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING) return isText;
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.BOOL) return (value) => typeof value === "boolean";
  if (field.fieldKind === "message" && field.message.typeName === "google.protobuf.Struct")
    return (value) => isPlainObject(value, 1);
  return undefined;
}

/** Half a pair of surrogates cannot be written in UTF-8. */
function isText(value: JsonValue): boolean {
  if (typeof value !== "string") return false;
  // With the flag u a whole pair is one character; few texts have any, and the first look is cheap.
  return !/[\ud800-\udfff]/.test(value) || !/\p{Surrogate}/u.test(value);
}

function isPlainObject(value: JsonValue, depth: number): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value) || depth > DEEPEST) return false;
  for (const key in value) {
    if (!isText(key) || !isPlain(value[key] ?? null, depth + 1)) return false;
  }
  return true;
}

function isPlain(value: JsonValue, depth: number): boolean {
  if (typeof value === "string") return isText(value);
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return depth <= DEEPEST && value.every((one) => isPlain(one, depth + 1));
  return isPlainObject(value, depth);
}
