/** A proxy that never answers: the time limits of streams and connections, which are not shortened here. */
import { afterEach, expect, test, vi } from "vitest";
import { callParticipant } from "../../src/ledger/participant/http.js";
import { MessageStream } from "../../src/ledger/participant/message-stream.js";
import { connectProxy } from "../fixtures/connect-proxy.js";
import { until } from "../fixtures/wait.js";
import { endpointAt, failureOf } from "../ledger/participant/servers.js";

afterEach(() => void vi.unstubAllEnvs());

test("fails calls and streams, and no connection to it stays", async () => {
  const proxy = await connectProxy("silence");
  vi.stubEnv("HTTP_PROXY", proxy.url.href);
  vi.stubEnv("NO_PROXY", undefined);
  vi.stubEnv("no_proxy", undefined);
  const endpoint = endpointAt(new URL("http://participant.invalid"), { timeouts: { answer: 100 } });
  const failures = [
    callParticipant(endpoint, "GET", "/v2/version"),
    MessageStream.open(endpoint, "/v2/updates", {}, false),
  ].map(failureOf);
  for (const failure of await Promise.all(failures)) expect(failure).toMatchObject({ kind: "lost" });
  await until("its connections are closed", () => proxy.asked.length === 2 && proxy.open() === 0);
});
