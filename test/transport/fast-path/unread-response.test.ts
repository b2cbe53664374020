/** An HTTP/2 client that never reads its response does not keep the server from closing. */
import { once } from "node:events";
import http2 from "node:http2";
import { expect, onTestFinished, test } from "vitest";
import { health } from "../../../src/service/health.js";
import { createServer } from "../../../src/transport/server.js";
import { MAX_WAIT_MS, within } from "../../fixtures/wait.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

test("the server closes after its grace period", async () => {
  const server = await createServer(
    health(() => undefined),
    TEST_SERVER_OPTIONS,
  );
  const client = http2.connect(await server.listen("127.0.0.1", 0));
  onTestFinished(() => client.destroy());
  client.on("error", () => {});
  const stream = client.request({ ":path": "/livez" });
  stream.on("error", () => {});
  const [head] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
  expect(head[":status"]).toBe(200);
  await within(MAX_WAIT_MS, "the server is closed", server.close(100));
});
