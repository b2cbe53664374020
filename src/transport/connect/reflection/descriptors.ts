import {
  type DescEnum,
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  toBinary,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

/** The definitions of services and of all that they are made of, to be found by name. */
export class Descriptors {
  /** Full names of the services, sorted. */
  readonly services: readonly string[];
  readonly #files = new Map<string, DescFile>();
  readonly #symbols = new Map<string, DescFile>();
  /** By the full name of the message that is extended, and the number. */
  readonly #extensions = new Map<string, Map<number, DescFile>>();
  readonly #messages = new Set<string>();
  readonly #bytes = new Map<DescFile, Uint8Array>();

  constructor(services: readonly DescService[]) {
    this.services = services.map(({ typeName }) => typeName).toSorted();
    for (const { file } of services) for (const one of withImports(file)) this.#add(one);
  }

  file(path: string): DescFile | undefined {
    return this.#files.get(path);
  }

  /** The file that defines a name, which may be that of anything in it. */
  fileOf(name: string): DescFile | undefined {
    return this.#symbols.get(name);
  }

  fileOfExtension(message: string, number: number): DescFile | undefined {
    return this.#extensions.get(message)?.get(number);
  }

  /** The numbers of the extensions of a message, in order; undefined where there is no such message. */
  extensionsOf(message: string): number[] | undefined {
    if (!this.#messages.has(message)) return undefined;
    return [...(this.#extensions.get(message)?.keys() ?? [])].toSorted((a, b) => a - b);
  }

  /** A google.protobuf.FileDescriptorProto. */
  bytesOf(file: DescFile): Uint8Array {
    let bytes = this.#bytes.get(file);
    if (bytes === undefined) this.#bytes.set(file, (bytes = toBinary(FileDescriptorProtoSchema, file.proto)));
    return bytes;
  }

  #add(file: DescFile): void {
    const { name, package: scope } = file.proto;
    if (this.#files.has(name)) return;
    this.#files.set(name, file);
    for (const type of nestedTypes(file)) {
      for (const symbol of symbolsOf(type, scope)) this.#symbols.set(symbol, file);
      if (type.kind === "message") this.#messages.add(type.typeName);
      if (type.kind === "extension") this.#addExtension(type);
    }
  }

  #addExtension({ extendee, number, file }: DescExtension): void {
    const numbers = this.#extensions.get(extendee.typeName) ?? new Map<number, DescFile>();
    this.#extensions.set(extendee.typeName, numbers.set(number, file));
  }
}

/** A file, and behind it all that it imports, each once. */
export function withImports(file: DescFile): Iterable<DescFile> {
  const found = new Set([file]);
  // A set that grows is gone through to its end.
  for (const one of found) for (const imported of one.dependencies) found.add(imported);
  return found;
}

/** The names that a type brings: its own, and those of its parts. */
function symbolsOf(type: DescMessage | DescEnum | DescExtension | DescService, scope: string): string[] {
  const { typeName } = type;
  switch (type.kind) {
    case "message":
      return [typeName, ...[...type.fields, ...type.oneofs].map(({ name }) => `${typeName}.${name}`)];
    case "service":
      return [typeName, ...type.methods.map(({ name }) => `${typeName}.${name}`)];
    case "enum": {
      // The values of an enumeration stand beside it, not in it.
      const around = type.parent?.typeName ?? scope;
      return [typeName, ...type.values.map(({ name }) => (around === "" ? name : `${around}.${name}`))];
    }
    case "extension":
      return [typeName];
  }
}
