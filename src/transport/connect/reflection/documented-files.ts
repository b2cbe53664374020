import { BinaryReader } from "@bufbuild/protobuf/wire";

/** FileDescriptorSet.file and FileDescriptorProto.name. */
const FILE = 1;
const NAME = 1;

/**
 * The encoded descriptors of our own proto files with their comments, which generated code lacks, by file name. Imports
 * of other packages are left out: their publishers document them. Nothing is decoded but names: decoding it all would
 * block for tens of milliseconds.
 */
export function documentedFiles(descriptorSet: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const files = fieldsOf(descriptorSet, FILE);
  const named = files.map((file) => [new TextDecoder().decode(fieldsOf(file, NAME)[0]), file] as const);
  return new Map(named.filter(([name]) => name.startsWith("offledger/")));
}

/** The values of a field of a message: bytes, messages or strings. */
function fieldsOf(message: Uint8Array, number: number): Uint8Array[] {
  const reader = new BinaryReader(message);
  const values: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === number) values.push(reader.bytes());
    else reader.skip(type, field);
  }
  return values;
}
