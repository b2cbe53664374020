import type { DescFile } from "@bufbuild/protobuf";
import { Code, type HandlerContext } from "@connectrpc/connect";
import type { ServerReflectionRequest as RequestV1 } from "../../../../gen/grpc/reflection/v1/reflection_pb.js";
import type { ServerReflectionRequest as RequestV1Alpha } from "../../../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import type { StreamLimits, Streams } from "../../watch/streams.js";
import { boundedRequests } from "./bounded-requests.js";
import { type Descriptors, withImports } from "./descriptors.js";

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

/** The one rpc of grpc.reflection, for either version. `descriptors` is called for each request. */
export function reflection(descriptors: () => Descriptors, streams: Streams, limits: StreamLimits) {
  return async function* <R extends ReflectionRequest>(requests: AsyncIterable<R>, { signal: client }: HandlerContext) {
    const { signal, end } = streams.begin(client);
    try {
      const sent = new Set<DescFile>();
      for await (const request of boundedRequests(requests, signal, limits)) {
        const messageResponse = respond(request, descriptors(), sent);
        yield { validHost: request.host, originalRequest: request, messageResponse };
      }
    } finally {
      end();
    }
  };
}

/** `sent` holds the files that the stream has sent; the response adds its own. */
function respond(
  { messageRequest }: ReflectionRequest,
  descriptors: Descriptors,
  sent: Set<DescFile>,
): MessageResponse {
  switch (messageRequest.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: descriptors.services.map((name) => ({ name })) } };
    case "fileByFilename":
      return (
        files(descriptors.file(messageRequest.value), descriptors, sent) ?? unknown(`file ${messageRequest.value}`)
      );
    case "fileContainingSymbol":
      return (
        files(descriptors.fileOf(messageRequest.value), descriptors, sent) ?? unknown(`symbol ${messageRequest.value}`)
      );
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = messageRequest.value;
      const file = descriptors.fileOfExtension(containingType, extensionNumber);
      return files(file, descriptors, sent) ?? unknown(`extension ${extensionNumber} of ${containingType}`);
    }
    case "allExtensionNumbersOfType": {
      const numbers = descriptors.extensionsOf(messageRequest.value);
      if (numbers === undefined) return unknown(`message ${messageRequest.value}`);
      const value = { baseTypeName: messageRequest.value, extensionNumber: numbers };
      return { case: "allExtensionNumbersResponse", value };
    }
    case undefined:
      return errorResponse(Code.Unimplemented, "unknown request; ask for services, files or extensions");
  }
}

/** The file, and those of its imports that the stream has not sent yet. */
function files(file: DescFile | undefined, descriptors: Descriptors, sent: Set<DescFile>): MessageResponse | undefined {
  if (file === undefined) return undefined;
  const wanted = [...withImports(file)].filter((one) => one === file || !sent.has(one));
  for (const one of wanted) sent.add(one);
  return {
    case: "fileDescriptorResponse",
    value: { fileDescriptorProto: wanted.map((one) => descriptors.bytesOf(one)) },
  };
}

const unknown = (what: string): MessageResponse => errorResponse(Code.NotFound, `${what} is unknown`);

function errorResponse(code: Code, errorMessage: string): MessageResponse {
  return { case: "errorResponse", value: { errorCode: code, errorMessage } };
}
