import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import { charsetProblem, mediaTypeOf } from "../../content-type.js";

/**
 * Prepares the content type for connect-es, which knows only two spellings of the charset UTF-8 and no other parameters,
 * and which would compare the content type of a GET, whose query says what the message is.
 */
export function normalizeContentType({ method, header }: UniversalServerRequest): void {
  const contentType = header.get("content-type") ?? "";
  const mediaType = mediaTypeOf(contentType);
  if (method === "GET" && !mediaType.startsWith("application/grpc")) header.delete("content-type");
  else if (mediaType !== contentType && mediaType.endsWith("json") && charsetProblem(contentType) === undefined) {
    header.set("content-type", mediaType);
  }
}
