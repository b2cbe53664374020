/** A caller by HTTP/2 who does not read its answer, and so keeps its end of the connection, does not keep the server. */
import { once } from "node:events";
import http2 from "node:http2";
import { expect, onTestFinished, test } from "vitest";
import { health } from "../../../src/service/health.js";
import { createServer } from "../../../src/transport/server.js";
import { within } from "../../fixtures/wait.js";
import { defaultOptions } from "../../fixtures/server-options.js";

test("the server closes when its time is over", async () => {
  const server = await createServer(
    health(() => undefined),
    defaultOptions,
  );
  const client = http2.connect(await server.listen("127.0.0.1", 0));
  onTestFinished(() => client.destroy());
  client.on("error", () => {});
  const stream = client.request({ ":path": "/livez" });
  stream.on("error", () => {});
  const [head] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
  expect(head[":status"]).toBe(200);
  await within(10_000, "the server is closed", server.close(100));
});
