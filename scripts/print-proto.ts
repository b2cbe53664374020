import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  type FileDescriptorProto,
  type FileOptions,
} from "@bufbuild/protobuf/wkt";

const scalars: Partial<Record<Type, string>> = {
  [Type.DOUBLE]: "double",
  [Type.FLOAT]: "float",
  [Type.INT64]: "int64",
  [Type.UINT64]: "uint64",
  [Type.INT32]: "int32",
  [Type.FIXED64]: "fixed64",
  [Type.FIXED32]: "fixed32",
  [Type.BOOL]: "bool",
  [Type.STRING]: "string",
  [Type.BYTES]: "bytes",
  [Type.UINT32]: "uint32",
  [Type.SFIXED32]: "sfixed32",
  [Type.SFIXED64]: "sfixed64",
  [Type.SINT32]: "sint32",
  [Type.SINT64]: "sint64",
};

/**
 * Prints the source text of a proto2 file from its descriptor, without custom
 * options: no importing file depends on them. Of the file's own options it has
 * those of Go and Java, which say where its published code is. Throws for map
 * fields and groups.
 */
export function printProto(file: FileDescriptorProto): string {
  return [
    `syntax = "proto2";`,
    `package ${file.package};`,
    ...file.dependency.map((path) => `import "${path}";`),
    ...(file.options === undefined ? [] : printFileOptions(file.options)),
    ...file.enumType.flatMap(printEnum),
    ...file.messageType.flatMap(printMessage),
    ...printExtensions(file.extension),
    "",
  ].join("\n");
}

function printFileOptions({ goPackage, javaPackage, javaOuterClassname, javaMultipleFiles }: FileOptions): string[] {
  return [
    `option go_package = "${goPackage}";`,
    `option java_multiple_files = ${javaMultipleFiles};`,
    `option java_outer_classname = "${javaOuterClassname}";`,
    `option java_package = "${javaPackage}";`,
  ];
}

function printMessage(message: DescriptorProto): string[] {
  if (message.options?.mapEntry === true) throw new Error(`${message.name}: map fields are not supported`);
  const plain = message.field.filter((field) => !field.proto3Optional && !Object.hasOwn(field, "oneofIndex"));
  return [
    `message ${message.name} {`,
    ...message.enumType.flatMap(printEnum),
    ...message.nestedType.flatMap(printMessage),
    ...plain.map((field) => printField(field, true)),
    ...message.oneofDecl.flatMap((oneof, index) => [
      `oneof ${oneof.name} {`,
      ...message.field
        .filter((field) => Object.hasOwn(field, "oneofIndex") && field.oneofIndex === index)
        .map((field) => printField(field, false)),
      "}",
    ]),
    ...message.extensionRange.map(({ start, end }) => `extensions ${start} to ${end === 536870912 ? "max" : end - 1};`),
    ...message.reservedRange.map(({ start, end }) => `reserved ${start} to ${end - 1};`),
    ...message.reservedName.map((name) => `reserved "${name}";`),
    ...printExtensions(message.extension),
    "}",
  ];
}

function printExtensions(extensions: FieldDescriptorProto[]): string[] {
  return extensions.flatMap((field) => [`extend ${field.extendee} {`, printField(field, true), "}"]);
}

function printField(field: FieldDescriptorProto, withLabel: boolean): string {
  const type = scalars[field.type] ?? field.typeName;
  if (type === "" || field.type === Type.GROUP) throw new Error(`${field.name}: groups are not supported`);
  const label = withLabel ? `${Label[field.label].toLowerCase()} ` : "";
  return `${label}${type} ${field.name} = ${field.number};`;
}

function printEnum(enumeration: EnumDescriptorProto): string[] {
  const alias = enumeration.options?.allowAlias === true ? ["option allow_alias = true;"] : [];
  const values = enumeration.value.map(({ name, number }) => `${name} = ${number};`);
  return [`enum ${enumeration.name} {`, ...alias, ...values, "}"];
}
