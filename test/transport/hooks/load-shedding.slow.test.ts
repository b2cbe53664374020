/** Load shedding on real connections: the event loop of the service, which is in this process, is blocked again and again. */
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { MetadataService } from "../../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { serveFile } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";

const MAX_DELAY_MS = 50;
const OVERLOADED = "server overloaded; retry later";
const path = "/api/utilities/v0/operator";

/** Blocks the event loop for most of the time, until the test ends or it is called. */
function overload(): () => void {
  const timer = setInterval(() => {
    for (const end = performance.now() + 300; performance.now() < end;);
  }, 320);
  const stop = () => clearInterval(timer);
  onTestFinished(stop);
  return stop;
}

async function startService(maxDelayMs = MAX_DELAY_MS) {
  const running = await serveFile(undefined, { config: { maxDelayMs } });
  onTestFinished(() => running.close());
  return running;
}

test("requests are rejected with Retry-After while the event loop is late, but those for health are not", async () => {
  const { url } = await startService();
  expect((await fetch(url + path)).status).toBe(200);
  const stop = overload();
  await until("a request is rejected", async () => (await fetch(url + path)).status === 503);
  const rejected = await fetch(url + path);
  expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await rejected.json()).toMatchObject({ error_description: OVERLOADED });
  for (let probe = 0; probe < 5; probe++) expect((await fetch(`${url}/livez`)).status).toBe(200);
  stop();
  await until("requests are served again", async () => (await fetch(url + path)).status === 200);
});

test("a maximum delay of 0 rejects no request", async () => {
  const { url } = await startService(0);
  overload();
  for (const end = performance.now() + 3_000; performance.now() < end;) {
    expect((await fetch(url + path)).status).toBe(200);
  }
});

test.each([
  ["Connect", (baseUrl: string) => createConnectTransport({ baseUrl, httpVersion: "1.1" })],
  ["gRPC", (baseUrl: string) => createGrpcTransport({ baseUrl })],
])("%s: a rejected request is unavailable, with Retry-After", async (_name, createTransport) => {
  const { url } = await startService();
  const client = createClient(MetadataService, createTransport(url));
  overload();
  let reason: unknown;
  await until("a request is rejected", async () => {
    try {
      await client.getRegistryInfo({});
    } catch (error) {
      reason = error;
    }
    return reason !== undefined;
  });
  // The registrar is missing, which is found out only where a request is not rejected.
  await until("it is rejected for the load", async () => {
    await client.getRegistryInfo({}).catch((error: unknown) => (reason = error));
    return (reason as { readonly code?: number }).code === 14;
  });
  expect(reason).toMatchObject({ code: 14, rawMessage: OVERLOADED });
  expect((reason as { metadata: Headers }).metadata.get("retry-after")).toBe("1");
});
