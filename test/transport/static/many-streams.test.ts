/** An HTTP/2 client gets as many streams as the limit says, also while the responses of earlier ones wait. */
import http2 from "node:http2";
import { expect, onTestFinished, test } from "vitest";
import { createBudgets } from "../../../src/transport/limits.js";
import { createServer } from "../../../src/transport/server.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until } from "../../fixtures/wait.js";

const PATH = "/docs/static/swagger-ui-bundle.js";
/** With parts of 64 KiB each they would hold more than Node.js allows a session. */
const WAITING = 200;

test("no stream within the limit is refused", async () => {
  const budgets = createBudgets({ responseMegabytes: 512, requests: 10_000 });
  const server = await createServer([], { ...TEST_SERVER_OPTIONS, budgets });
  onTestFinished(() => server.close(100));
  const url = await server.listen("127.0.0.1", 0);
  const session = http2.connect(url, { settings: { initialWindowSize: 0 } });
  onTestFinished(() => session.destroy());
  session.on("error", () => undefined);
  const [answered, refused]: [number[], number[]] = [[], []];
  const request = () => {
    const stream = session.request({ ":path": PATH }).on("error", () => undefined);
    stream.on("response", ({ ":status": status = 0 }) => answered.push(status));
    stream.on("close", () => refused.push(stream.rstCode));
  };
  for (let at = 0; at < WAITING; at++) request();
  await until("the first responses have begun", () => answered.length === WAITING);
  for (let at = 0; at < 50; at++) request();
  await until("the others have an outcome", () => answered.length + refused.length === WAITING + 50);
  expect(refused).toEqual([]);
  expect(new Set(answered)).toEqual(new Set([200]));
});
