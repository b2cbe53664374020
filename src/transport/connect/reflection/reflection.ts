import type { DescFile } from "@bufbuild/protobuf";
import { Code, type HandlerContext } from "@connectrpc/connect";
import type { ServerReflectionRequest as RequestV1 } from "../../../../gen/grpc/reflection/v1/reflection_pb.js";
import type { ServerReflectionRequest as RequestV1Alpha } from "../../../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { type Descriptors, withImports } from "./descriptors.js";
import type { StreamLimits } from "../streams/limits.js";
import { boundedRequests } from "./bounded-requests.js";
import type { Streams } from "../streams/streams.js";

/** Both versions ask the same. */
type Request = RequestV1 | RequestV1Alpha;

/** An answer of either version, as the one `oneof` of it. */
type Answer =
  | { readonly case: "fileDescriptorResponse"; readonly value: { readonly fileDescriptorProto: Uint8Array[] } }
  | {
      readonly case: "allExtensionNumbersResponse";
      readonly value: { readonly baseTypeName: string; readonly extensionNumber: number[] };
    }
  | { readonly case: "listServicesResponse"; readonly value: { readonly service: { readonly name: string }[] } }
  | { readonly case: "errorResponse"; readonly value: { readonly errorCode: number; readonly errorMessage: string } };

/** The one rpc of grpc.reflection, for either version. `descriptors` gives the definitions when they are first asked for. */
export function reflection(descriptors: () => Descriptors, streams: Streams, limits: StreamLimits) {
  return async function* <R extends Request>(requests: AsyncIterable<R>, { signal: caller }: HandlerContext) {
    const { signal, end } = streams.begin(caller);
    try {
      const sent = new Set<DescFile>();
      for await (const request of boundedRequests(requests, signal, limits)) {
        const messageResponse = answer(request, descriptors(), sent);
        yield { validHost: request.host, originalRequest: request, messageResponse };
      }
    } finally {
      end();
    }
  };
}

/** `sent` are the files that this stream has had, to which the answer adds its own. */
function answer({ messageRequest: asked }: Request, found: Descriptors, sent: Set<DescFile>): Answer {
  switch (asked.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: found.services.map((name) => ({ name })) } };
    case "fileByFilename":
      return files(found.file(asked.value), found, sent) ?? unknown(`file ${asked.value}`);
    case "fileContainingSymbol":
      return files(found.fileOf(asked.value), found, sent) ?? unknown(`symbol ${asked.value}`);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = asked.value;
      const file = found.fileOfExtension(containingType, extensionNumber);
      return files(file, found, sent) ?? unknown(`extension ${extensionNumber} of ${containingType}`);
    }
    case "allExtensionNumbersOfType": {
      const numbers = found.extensionsOf(asked.value);
      if (numbers === undefined) return unknown(`message ${asked.value}`);
      const value = { baseTypeName: asked.value, extensionNumber: numbers };
      return { case: "allExtensionNumbersResponse", value };
    }
    case undefined:
      return refusal(
        Code.Unimplemented,
        "this is no question that is known here; ask for services, files or extensions",
      );
  }
}

/** A file in any case, and of what it imports all that the stream has not had. */
function files(file: DescFile | undefined, found: Descriptors, sent: Set<DescFile>): Answer | undefined {
  if (file === undefined) return undefined;
  const wanted = [...withImports(file)].filter((one) => one === file || !sent.has(one));
  for (const one of wanted) sent.add(one);
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto: wanted.map((one) => found.bytesOf(one)) } };
}

const unknown = (what: string): Answer => refusal(Code.NotFound, `${what} is not known here`);

function refusal(code: Code, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode: code, errorMessage } };
}
