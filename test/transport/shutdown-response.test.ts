/** Requests that arrive during shutdown, in the form of each protocol. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sendShutdownResponse } from "../../src/transport/shutdown-response.js";

const MESSAGE = "the service is stopping and accepts no more requests; retry";
const server = createServer(sendShutdownResponse);
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

test.each([
  ["/api/token-standard/v0/registrars/r/registry/metadata/v1/info", { error: MESSAGE }],
  ["/api/utilities/v0/operator", { error: "unavailable", error_description: MESSAGE }],
  ["/livez", { error: MESSAGE }],
  ["/docs/static/index.html", { error: MESSAGE }],
])("%s has the body of REST", async (path, body) => {
  const response = await fetch(url + path);
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(response.headers.get("connection")).toBe("close");
  expect(await response.json()).toEqual(body);
});

test.each(["/offledger.metadata.v1.MetadataService/GetRegistryInfo", "/grpc.health.v1.Health/Check?connect=v1"])(
  "%s has the body of Connect",
  async (path) => {
    const response = await fetch(url + path, { method: "POST", headers: { "content-type": "application/json" } });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(response.headers.get("connection")).toBe("close");
    expect(await response.json()).toEqual({
      code: "unavailable",
      message: MESSAGE,
      details: [
        {
          type: "google.rpc.ErrorInfo",
          value: expect.any(String) as string,
          debug: { reason: "SHUTTING_DOWN", domain: "offledger", metadata: {} },
        },
        { type: "google.rpc.RetryInfo", value: expect.any(String) as string, debug: { retryDelay: "1s" } },
      ],
    });
  },
);
