/**
 * Requests whose fields are texts, truth values and objects, which most are, are
 * read without the library's reflection: it costs more than all the rules. What
 * is not of the expected form in every detail is left to the library, whose
 * errors then tell.
 */
import { create, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";

export interface FastSchema {
  readonly fields: readonly FastField[];
  /** A message without its fields, which have to be set in their order. */
  readonly create: () => Message;
  /** Sets a field by its place; undefined stands for one that is not set. */
  readonly set: (message: Message, index: number, value: unknown) => void;
}

export interface FastField {
  readonly type: "text" | "bool" | "object";
  /** The names in JSON, in the proto file and in TypeScript. */
  readonly jsonName: string;
  readonly protoName: string;
  readonly localName: string;
  readonly number: number;
}

/** No request is nested deeper for a reason. */
export const MAX_DEPTH = 50;

/** Null for a message with fields of other types. */
const known = new Map<DescMessage, FastSchema | null>();

/** Undefined for a message with fields of other types. */
export function fastSchema(schema: DescMessage): FastSchema | undefined {
  let plain = known.get(schema);
  if (plain === undefined) known.set(schema, (plain = plainOf(schema) ?? null));
  return plain ?? undefined;
}

function plainOf(schema: DescMessage): FastSchema | undefined {
  const fields: FastField[] = [];
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
    // Field after field, as the library does it: then all messages are of one hidden class.
    create: () => ({ $typeName }),
    set(message, index, value) {
      const name = fields[index]?.localName ?? "";
      const set = value ?? zero[name];
      // The names of this message's fields are those that its schema has.
      if (set !== undefined) (message as unknown as Record<string, unknown>)[name] = set;
    },
  };
}

function typeOf(field: DescField): FastField["type"] | undefined {
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING) return "text";
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.BOOL) return "bool";
  const isObject = field.fieldKind === "message" && field.message.typeName === "google.protobuf.Struct";
  return isObject ? "object" : undefined;
}
