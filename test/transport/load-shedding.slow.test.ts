/** Load shedding on real connections: the event loop of the service, which is in this process, is blocked again and again. */
import { Code } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { callNamed } from "../fixtures/calls/index.js";
import { clients, type Received } from "../fixtures/protocols.js";
import { serveFile } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";

const operator = callNamed("operator");
const live = callNamed("liveness");

/** Blocks the event loop for most of the time, until the test ends or it is called. */
function overload(): () => void {
  const timer = setInterval(() => {
    for (const end = performance.now() + 300; performance.now() < end;);
  }, 320);
  const stop = () => clearInterval(timer);
  onTestFinished(stop);
  return stop;
}

async function startService(maxDelayMs: number) {
  const running = await serveFile(undefined, { config: { maxDelayMs } });
  onTestFinished(() => running.close());
  return running.url;
}

// matrix.test.ts has the form of the rejection in the others.
test.each(Object.entries(clients).filter(([name]) => name === "REST" || name === "gRPC"))(
  "%s: rejected with Retry-After while the loop is late, but not health",
  async (_, send) => {
    const url = await startService(50);
    await until("requests are served", async () => (await send(url, operator)).code === 0);
    const stop = overload();
    let last: Received | undefined;
    await until("a request is rejected", async () => (last = await send(url, operator)).code !== 0);
    expect(last).toMatchObject({ code: Code.Unavailable, message: "server overloaded; retry later" });
    expect(last?.headers.get("retry-after")).toBe("1");
    expect(await send(url, live)).toMatchObject({ code: 0 });
    stop();
    await until("requests are served again", async () => (await send(url, operator)).code === 0);
  },
);

test("a maximum delay of 0 rejects no request", async () => {
  const url = await startService(0);
  overload();
  for (let round = 0; round < 10; round++) expect(await clients["REST"]?.(url, operator)).toMatchObject({ code: 0 });
});
