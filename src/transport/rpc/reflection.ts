/** grpc.reflection: clients read the definitions of the services from the server. */
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
import { Code, type HandlerContext } from "@connectrpc/connect";
import { file_google_rpc_error_details } from "../../../gen/google/rpc/error_details_pb.js";
import type { ServerReflectionRequest as RequestV1 } from "../../../gen/grpc/reflection/v1/reflection_pb.js";
import type { ServerReflectionRequest as RequestV1Alpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { rejection } from "../errors.js";
import type { Streams } from "../watch/streams.js";

type ReflectionRequest = RequestV1 | RequestV1Alpha;

/** The `oneof` of a response, in either version. */
type MessageResponse =
  | { readonly case: "fileDescriptorResponse"; readonly value: { readonly fileDescriptorProto: Uint8Array[] } }
  | {
      readonly case: "allExtensionNumbersResponse";
      readonly value: { readonly baseTypeName: string; readonly extensionNumber: number[] };
    }
  | { readonly case: "listServicesResponse"; readonly value: { readonly service: { readonly name: string }[] } }
  | { readonly case: "errorResponse"; readonly value: { readonly errorCode: number; readonly errorMessage: string } };

/** The one rpc of grpc.reflection, for either version; a stream takes `maxRequests`. */
export function reflection(services: readonly DescService[], streams: Streams, maxRequests: number) {
  // Read on first use: it takes some milliseconds.
  let definitions: Definitions | undefined;
  return async function* <R extends ReflectionRequest>(requests: AsyncIterable<R>, { signal: client }: HandlerContext) {
    const { signal, end } = streams.begin(client);
    try {
      const sent = new Set<DescFile>();
      for await (const request of untilAborted(requests, signal, maxRequests)) {
        const messageResponse = respond(request, (definitions ??= definitionsOf(services)), sent);
        yield { validHost: request.host, originalRequest: request, messageResponse };
      }
    } finally {
      end();
    }
  };
}

/** The requests. Throws the signal's reason. Does not call `return()` of the source: it would wait for the client. */
async function* untilAborted<T>(requests: AsyncIterable<T>, signal: AbortSignal, max: number): AsyncGenerator<T> {
  const iterator = requests[Symbol.asyncIterator]();
  const aborted = new Promise<never>((_resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  // It may abort while nobody waits.
  aborted.catch(() => undefined);
  for (let count = 0; ; count++) {
    // oxlint-disable-next-line no-await-in-loop
    const { done, value } = await Promise.race([iterator.next(), aborted]);
    if (done === true) return;
    if (count === max) {
      throw rejection("TOO_MANY_MESSAGES", `the limit of ${max} requests per stream is reached; open another stream`);
    }
    yield value;
  }
}

/** `sent` holds the files that the stream has sent; the response adds its own. */
function respond(
  { messageRequest }: ReflectionRequest,
  definitions: Definitions,
  sent: Set<DescFile>,
): MessageResponse {
  const { files, symbols, extensions } = definitions;
  switch (messageRequest.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: definitions.services.map((name) => ({ name })) } };
    case "fileByFilename":
      return filesFrom(files.get(messageRequest.value), sent) ?? unknown(`file ${messageRequest.value}`);
    case "fileContainingSymbol":
      return filesFrom(symbols.get(messageRequest.value), sent) ?? unknown(`symbol ${messageRequest.value}`);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = messageRequest.value;
      const found = extensions.find(
        ({ extendee, number }) => extendee.typeName === containingType && number === extensionNumber,
      );
      return filesFrom(found?.file, sent) ?? unknown(`extension ${extensionNumber} of ${containingType}`);
    }
    case "allExtensionNumbersOfType": {
      const baseTypeName = messageRequest.value;
      if (!symbols.has(baseTypeName)) return unknown(`message ${baseTypeName}`);
      const extensionNumber = extensions
        .filter(({ extendee }) => extendee.typeName === baseTypeName)
        .map(({ number }) => number);
      return { case: "allExtensionNumbersResponse", value: { baseTypeName, extensionNumber } };
    }
    case undefined:
      return errorResponse(Code.Unimplemented, "unknown request; ask for services, files or extensions");
  }
}

/** The file, and those of its imports that the stream has not sent yet. */
function filesFrom(file: DescFile | undefined, sent: Set<DescFile>): MessageResponse | undefined {
  if (file === undefined) return undefined;
  const wanted = [...withImports(file)].filter((one) => one === file || !sent.has(one));
  for (const one of wanted) sent.add(one);
  const fileDescriptorProto = wanted.map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

const unknown = (what: string): MessageResponse => errorResponse(Code.NotFound, `${what} is unknown`);

function errorResponse(code: Code, errorMessage: string): MessageResponse {
  return { case: "errorResponse", value: { errorCode: code, errorMessage } };
}

/** The files of services, and of all that they import. */
interface Definitions {
  /** Full names, sorted. */
  readonly services: readonly string[];
  readonly files: ReadonlyMap<string, DescFile>;
  /** By the full name of a message, field, enum, value, service or method: the file that defines it. */
  readonly symbols: ReadonlyMap<string, DescFile>;
  readonly extensions: readonly DescExtension[];
}

function definitionsOf(services: readonly DescService[]): Definitions {
  const files = new Map<string, DescFile>();
  const symbols = new Map<string, DescFile>();
  const extensions: DescExtension[] = [];
  // No service imports the details of errors, but clients decode errors with them.
  for (const file of withImports(...services.map((service) => service.file), file_google_rpc_error_details)) {
    files.set(file.proto.name, file);
    for (const type of nestedTypes(file)) {
      for (const symbol of symbolsOf(type, file.proto.package)) symbols.set(symbol, file);
      if (type.kind === "extension") extensions.push(type);
    }
  }
  return { services: services.map(({ typeName }) => typeName).toSorted(), files, symbols, extensions };
}

/** The files, then all that they import, each once. */
function withImports(...files: readonly DescFile[]): Iterable<DescFile> {
  const found = new Set(files);
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
