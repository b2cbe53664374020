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

/**
 * The file descriptors of services, of further files, and of all that they import, by file name and symbol.
 * `documented` holds encoded ones with comments, to be sent in place of those of generated code.
 */
export class Descriptors {
  /** Full names of the services, sorted. */
  readonly services: readonly string[];
  readonly #files = new Map<string, DescFile>();
  readonly #symbols = new Map<string, DescFile>();
  /** By the full name of the extended message, then by field number. */
  readonly #extensions = new Map<string, Map<number, DescFile>>();
  readonly #messages = new Set<string>();
  readonly #bytes: Map<string, Uint8Array>;

  constructor(
    services: readonly DescService[],
    documented: ReadonlyMap<string, Uint8Array>,
    files: readonly DescFile[] = [],
  ) {
    this.#bytes = new Map(documented);
    this.services = services.map(({ typeName }) => typeName).toSorted();
    for (const file of [...services.map((service) => service.file), ...files]) {
      for (const one of withImports(file)) this.#add(one);
    }
  }

  file(path: string): DescFile | undefined {
    return this.#files.get(path);
  }

  /** The file that defines a symbol: a message, field, enum, value, service or method. */
  fileOf(name: string): DescFile | undefined {
    return this.#symbols.get(name);
  }

  fileOfExtension(message: string, number: number): DescFile | undefined {
    return this.#extensions.get(message)?.get(number);
  }

  /** The extension numbers of a message, ascending; undefined for an unknown message. */
  extensionsOf(message: string): number[] | undefined {
    if (!this.#messages.has(message)) return undefined;
    return [...(this.#extensions.get(message)?.keys() ?? [])].toSorted((a, b) => a - b);
  }

  bytesOf(file: DescFile): Uint8Array {
    const { name } = file.proto;
    let bytes = this.#bytes.get(name);
    if (bytes === undefined) this.#bytes.set(name, (bytes = toBinary(FileDescriptorProtoSchema, file.proto)));
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

/** A file, then all that it imports, each once. */
export function withImports(file: DescFile): Iterable<DescFile> {
  const found = new Set([file]);
  // The loop also visits elements that it adds.
  for (const one of found) for (const imported of one.dependencies) found.add(imported);
  return found;
}

function symbolsOf(type: DescMessage | DescEnum | DescExtension | DescService, scope: string): string[] {
  const { typeName } = type;
  switch (type.kind) {
    case "message":
      return [typeName, ...[...type.fields, ...type.oneofs].map(({ name }) => `${typeName}.${name}`)];
    case "service":
      return [typeName, ...type.methods.map(({ name }) => `${typeName}.${name}`)];
    case "enum": {
      // Enum values are siblings of their enum.
      const parent = type.parent?.typeName ?? scope;
      return [typeName, ...type.values.map(({ name }) => (parent === "" ? name : `${parent}.${name}`))];
    }
    case "extension":
      return [typeName];
  }
}
