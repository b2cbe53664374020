/**
 * Requests whose fields are texts, truth values and objects, which most are, are
 * read without the library's reflection: it costs more than all the rules. What
 * is not of the expected form in every detail is left to the library, whose
 * errors then tell.
 */
import { create, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";

export interface PlainSchema {
  readonly fields: readonly PlainField[];
  /** A message without any field, to be filled by their names in TypeScript. */
  readonly empty: () => Message & Record<string, unknown>;
}

export interface PlainField {
  readonly type: "text" | "bool" | "object";
  /** The names in JSON, in the proto file and in TypeScript. */
  readonly jsonName: string;
  readonly protoName: string;
  readonly localName: string;
  readonly number: number;
}

/** No request is nested deeper for a reason. */
export const DEEPEST = 50;

const known = new Map<DescMessage, PlainSchema | undefined>();

/** Undefined for a message with fields of other types. */
export function plainSchema(schema: DescMessage): PlainSchema | undefined {
  if (!known.has(schema)) known.set(schema, plainOf(schema));
  return known.get(schema);
}

function plainOf(schema: DescMessage): PlainSchema | undefined {
  const fields: PlainField[] = [];
  for (const field of schema.fields) {
    const type = typeOf(field);
    if (type === undefined || field.oneof !== undefined) return undefined;
    const { jsonName, name: protoName, localName, number } = field;
    fields.push({ type, jsonName, protoName, localName, number });
  }
  const zero = create(schema);
  // Its fields have values that cannot be changed in place, so a copy shares nothing.
  return { fields, empty: () => ({ ...zero }) };
}

function typeOf(field: DescField): PlainField["type"] | undefined {
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING) return "text";
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.BOOL) return "bool";
  const isObject = field.fieldKind === "message" && field.message.typeName === "google.protobuf.Struct";
  return isObject ? "object" : undefined;
}
