import type { Message } from "@bufbuild/protobuf";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Operation } from "../operations.js";
import { sendStatic } from "../static/send-static.js";
import { staticContent, type StaticContent } from "../static/static-content.js";

/** Answers an operation whose response is always the same, from the bytes of the first. */
export function constantResponse(operation: Operation, compresses: boolean) {
  let content: StaticContent | undefined;
  return async (request: FastifyRequest, reply: FastifyReply, message: Message): Promise<void> => {
    content ??= await makeContent(operation, message);
    await sendStatic(request, reply, content, { compresses });
  };
}

async function makeContent(operation: Operation, message: Message): Promise<StaticContent> {
  const json = (await operation.call(message)).json();
  const bytes = Buffer.alloc(json.length);
  json.write(bytes, 0);
  return staticContent(bytes, "application/json");
}
