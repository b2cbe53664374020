/** The console's operations on the operator's port of a running service, and on no other. */
import { expect, test } from "vitest";
import { callNamed } from "../../fixtures/calls/index.js";
import { sendRest } from "../../fixtures/protocols.js";
import { until } from "../../fixtures/wait.js";
import { start } from "../../telemetry/starting.js";
import { ask, askEverywhere } from "./clients.js";

test("are served with the refusals of the public port, each by the id of its answer", async () => {
  const app = await start({ metricsPort: 0 });
  const { origin } = new URL(app.metricsUrl ?? "");
  const refused = await sendRest(app.url, callNamed("an instrument that does not exist"));
  expect(refused.status).toBe(404);
  const requestId = refused.headers.get("x-request-id");
  expect(requestId).toMatch(/./);
  const { refusals } = await ask(origin, "listRefusals");
  expect(refusals).toMatchObject([{ requestId, protocol: "rest", status: "not_found" }]);
  const { points } = await ask(origin, "getFreshness");
  expect(points).toHaveLength(1);
  await until("the warnings are found", async () => (await ask(origin, "getInventory"))["checked"] === true);
  const [rest, ...others] = await askEverywhere(origin, "getInventory");
  for (const other of others) expect(other).toEqual(rest);
  // What operators ask is not counted.
  const { operations } = await ask(origin, "getRequests");
  expect(operations).toHaveLength(1);
});

test("are not served on the public port, nor by a mirror that answers nothing else", async () => {
  const app = await start({ metricsPort: 0 });
  expect((await fetch(`${app.url}/api/offledger/v1/console/inventory`)).status).toBe(404);
  const mirror = await start({ metricsPort: 0 }, { mirrors: true, answers: false });
  const { origin } = new URL(mirror.metricsUrl ?? "");
  expect((await fetch(`${origin}/api/offledger/v1/console/inventory`)).status).toBe(404);
});
