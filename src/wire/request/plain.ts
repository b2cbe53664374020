/**
 * Requests whose fields are texts, truth values and objects, which most are, are
 * read without the library's reflection: it costs more than all the rules. What
 * is not of the expected form in every detail is left to the library, whose
 * errors then tell.
 */
import { create, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";

export interface PlainSchema {
  readonly fields: readonly PlainField[];
  /** Makes a message of values in the order of the fields, undefined for those that are not set. */
  readonly message: (values: readonly unknown[]) => Message;
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

/** Null for a message with fields of other types. */
const known = new Map<DescMessage, PlainSchema | null>();

/** Undefined for a message with fields of other types. */
export function plainSchema(schema: DescMessage): PlainSchema | undefined {
  let plain = known.get(schema);
  if (plain === undefined) known.set(schema, (plain = plainOf(schema) ?? null));
  return plain ?? undefined;
}

function plainOf(schema: DescMessage): PlainSchema | undefined {
  const fields: PlainField[] = [];
  for (const field of schema.fields) {
    const type = typeOf(field);
    if (type === undefined || field.oneof !== undefined) return undefined;
    const { jsonName, name: protoName, localName, number } = field;
    fields.push({ type, jsonName, protoName, localName, number });
  }
  const zero: Readonly<Record<string, unknown>> = { ...create(schema) };
  const $typeName = schema.typeName;
  return {
    fields,
    message(values) {
      // Field after field, as the library does it: then all messages are of one hidden class.
      const message: Message & Record<string, unknown> = { $typeName };
      for (let index = 0; index < fields.length; index++) {
        const name = fields[index]?.localName ?? "";
        const value = values[index] ?? zero[name];
        if (value !== undefined) message[name] = value;
      }
      return message;
    },
  };
}

function typeOf(field: DescField): PlainField["type"] | undefined {
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING) return "text";
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.BOOL) return "bool";
  const isObject = field.fieldKind === "message" && field.message.typeName === "google.protobuf.Struct";
  return isObject ? "object" : undefined;
}
