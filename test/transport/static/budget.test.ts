/** Static answers count towards the budget of responses while their clients do not read them. */
import http2 from "node:http2";
import { expect, onTestFinished, test } from "vitest";
import { createBudgets } from "../../../src/transport/limits.js";
import { createServer } from "../../../src/transport/server.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until } from "../../fixtures/wait.js";

const PATH = "/docs/static/swagger-ui-bundle.js";
const MIB = 1024 * 1024;
const SESSIONS = 8;
const STREAMS = 12;

test("beyond the budget they are 503, and when their clients leave they are served again", async () => {
  const budgets = createBudgets({ responseMegabytes: 1 });
  const documentation = { version: "1.0.0", openApi: {} };
  const server = await createServer([], { ...TEST_SERVER_OPTIONS, documentation, budgets });
  onTestFinished(() => server.close(100));
  const url = new URL(await server.listen("127.0.0.1", 0));
  const get = async () => {
    const response = await fetch(new URL(PATH, url), { headers: { "accept-encoding": "identity" } });
    const { length } = Buffer.from(await response.arrayBuffer());
    return { status: response.status, retryAfter: response.headers.get("retry-after"), isLarge: length > MIB };
  };
  const served = { status: 200, retryAfter: null, isLarge: true };
  expect(await get()).toEqual(served);
  await until("nothing is held", () => budgets.responses.used === 0);

  // No byte of a body may be sent to them.
  const stalled = Array.from({ length: SESSIONS }, () => http2.connect(url, { settings: { initialWindowSize: 0 } }));
  for (const session of stalled) {
    onTestFinished(() => session.destroy());
    session.on("error", () => undefined);
    for (let at = 0; at < STREAMS; at++) session.request({ ":path": PATH }).on("error", () => undefined);
  }
  await until("the budget is used up", () => budgets.responses.used >= MIB);
  expect(budgets.responses.used).toBeLessThan(2 * MIB);
  expect(await get()).toEqual({ status: 503, retryAfter: "1", isLarge: false });

  for (const session of stalled) session.destroy();
  await until("nothing is held", () => budgets.responses.used === 0);
  expect(await get()).toEqual(served);
});
