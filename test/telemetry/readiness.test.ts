/** What the log says while the service is not ready: a line for the change, none for each probe. */
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { health } from "../../src/service/health.js";
import { ReadinessLog } from "../../src/telemetry/freshness.js";
import { startTelemetry } from "../../src/telemetry/telemetry.js";
import { createServer } from "../../src/transport/server.js";
import { requestHttp1 } from "../fixtures/http-requests.js";
import { quiet } from "../fixtures/run-service.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";
import { until } from "../fixtures/wait.js";

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly reason?: string;
  readonly operation?: string;
}

const [INFO, WARN] = [30, 40];

async function serve(logRequests: "all" | "failed") {
  const lines: Line[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line) as Line) });
  const state: { reason: string | undefined } = { reason: undefined };
  const readiness = new ReadinessLog(() => state.reason, log, 1);
  onTestFinished(() => readiness.close());
  // Of metrics, which the log does not need.
  const sources = {} as Parameters<typeof startTelemetry>[2];
  const telemetry = await startTelemetry({ ...quiet(), logRequests }, log, sources);
  const server = await createServer([health(() => state.reason)], {
    ...TEST_SERVER_OPTIONS,
    log: pino({ enabled: false }),
    observers: telemetry.observers,
  });
  onTestFinished(() => server.close(100));
  const url = await server.listen("127.0.0.1", 0);
  const probe = async (times: number) => {
    for (let time = 0; time < times; time++)
      expect((await requestHttp1(url, "/readyz")).status).toBe(state.reason === undefined ? 200 : 503);
  };
  return { lines, state, probe };
}

test("readiness that changes is one line each time, and failed probes are none", async () => {
  const { lines, state, probe } = await serve("failed");
  await probe(3);
  for (const reason of ["the ledger has not been reached for 35 s", "no snapshot"]) {
    state.reason = reason;
    await until("it is logged", () => lines.at(-1)?.reason === reason);
    await probe(5);
    // Another reason is no change.
    state.reason = `${reason}, still`;
    await probe(5);
    state.reason = undefined;
    await until("it is logged", () => lines.at(-1)?.msg === "the service is ready");
  }
  expect(lines.map(({ level, msg, reason }) => [level, msg, reason])).toEqual([
    [WARN, "the service is not ready", "the ledger has not been reached for 35 s"],
    [INFO, "the service is ready", undefined],
    [WARN, "the service is not ready", "no snapshot"],
    [INFO, "the service is ready", undefined],
  ]);
});

test("where all requests are logged, a failed probe is no warning", async () => {
  const { lines, state, probe } = await serve("all");
  state.reason = "no snapshot";
  await until("it is logged", () => lines.length === 1);
  await probe(2);
  expect(lines.slice(1).map(({ level, operation }) => [level, operation])).toEqual([
    [INFO, "offledger.health.v1.HealthService/GetReadiness"],
    [INFO, "offledger.health.v1.HealthService/GetReadiness"],
  ]);
});
