import type { DescMessage } from "@bufbuild/protobuf";

/**
 * The path of a field in JSON names -> its path in names of the proto files. Keys within a Struct stay as they are.
 * Undefined where the message has no such field.
 */
export function protoPath(schema: DescMessage, jsonPath: string): string | undefined {
  const [, first = "", index = "", rest] = /^([^.[]*)((?:\[\d+\])*)(?:\.(.*))?$/s.exec(jsonPath) ?? [];
  const field = schema.fields.find(({ jsonName }) => jsonName === first);
  if (field === undefined) return undefined;
  const name = field.name + index;
  if (rest === undefined) return name;
  const isOpaque = field.message === undefined || field.message.typeName.startsWith("google.protobuf.");
  const inner = isOpaque ? rest : protoPath(field.message, rest);
  return inner === undefined ? undefined : `${name}.${inner}`;
}
