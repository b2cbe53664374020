/** Headers whose values differ in each response stay out of the HPACK table of a gRPC client. */
import { once } from "node:events";
import { connect, type IncomingHttpHeaders, sensitiveHeaders } from "node:http2";
import { fromJson, toBinary } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { callNamed } from "../../fixtures/calls/index.js";
import { serveFile } from "../../fixtures/run-service.js";

test("etag, tags and the request id are never indexed", async () => {
  const running = await serveFile(undefined);
  onTestFinished(() => running.close());
  const session = connect(running.url);
  onTestFinished(() => session.destroy());
  const { method, request } = callNamed("v1 transfer factory, offer");
  const path = `/${method.parent.typeName}/${method.name}`;
  const head = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
  const stream = session.request(head);
  const message = toBinary(method.input, fromJson(method.input, request));
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  stream.end(Buffer.concat([prefix, message]));
  const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
  // The types do not know the symbol.
  const neverIndexed = Reflect.get(headers, sensitiveHeaders) as readonly string[];
  expect(neverIndexed.toSorted()).toEqual(["etag", "offledger-tags", "x-request-id"]);
});
