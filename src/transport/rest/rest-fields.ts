import type { DescField, DescMessage } from "@bufbuild/protobuf";

/**
 * Whether a field exists on REST. Members of a oneof do not: they are typed forms of a field that REST has as JSON, for
 * callers with generated code. In a REST body they count as unknown fields.
 */
export const isOnRest = (field: DescField): boolean => field.oneof === undefined;

export const restFields = (message: DescMessage): readonly DescField[] => message.fields.filter(isOnRest);
