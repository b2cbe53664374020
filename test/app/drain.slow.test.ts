/** SIGTERM drains: the service is not ready and serves on; then it closes, step by step, and the log says each. */
import http from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { Code } from "@connectrpc/connect";
import { requestHttp1 } from "../fixtures/http-requests.js";
import { main, Program } from "../fixtures/program.js";
import { until, within } from "../fixtures/wait.js";
import { watchStreams } from "../fixtures/watch-streams.js";

const DRAIN_SECONDS = 3;
const BOUND_MS = 20_000;
const STEPS = [
  "the service drains: it serves, but is not ready",
  "the service stops",
  "clients are told to go away, and idle connections are closed",
  "streams have ended",
  "the listener and all connections are closed",
];

async function start(): Promise<readonly [program: Program, url: string]> {
  const env = { OFFLEDGER_HOST: "127.0.0.1", OFFLEDGER_PORT: "0", OFFLEDGER_DRAIN_SECONDS: String(DRAIN_SECONDS) };
  const program = new Program(process.execPath, [main, "serve"], { cwd: process.cwd(), env });
  const [, url = ""] = await program.printed(/serves .* at (http:\/\/127\.0\.0\.1:\d+)/);
  return [program, url];
}

/** The steps that the log has, in their order. */
const steps = (log: string): unknown[] =>
  log
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { readonly msg?: unknown }).msg)
    .filter((message) => STEPS.includes(String(message)));

test("at SIGTERM", async () => {
  const [program, url] = await start();
  const kept = new http.Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => kept.destroy());
  expect(await requestHttp1(url, "/readyz", {}, undefined, kept)).toMatchObject({ status: 200 });
  const end = new AbortController();
  onTestFinished(() => end.abort());
  const streams = [watchStreams["gRPC"], watchStreams["Connect"]].map((watch) => watch?.(url, {}, end.signal));
  for (const stream of streams) expect((await stream?.next())?.value).toMatchObject({ reset: {} });

  program.signal("SIGTERM");
  await until("it is not ready", async () => (await requestHttp1(url, "/readyz")).status === 503);
  const served = await requestHttp1(url, "/livez", {}, undefined, kept);
  expect(served).toMatchObject({ status: 200, headers: { connection: "close" } });
  expect(steps(program.err)).toEqual(STEPS.slice(0, 1));

  // Until then the streams go on; a heartbeat may come.
  const ended = async (stream: (typeof streams)[number]) => {
    try {
      while ((await stream?.next())?.done === false);
      return "ended";
    } catch (error) {
      return (error as { readonly code?: number }).code;
    }
  };
  const ends = await within(BOUND_MS, "the streams end", Promise.all(streams.map(ended)));
  expect(ends).toEqual([Code.Unavailable, Code.Unavailable]);
  expect((await program.ended()).code).toBe(0);
  expect(steps(program.err)).toEqual(STEPS);
});

test("not at SIGINT, which a terminal sends", async () => {
  const [program] = await start();
  program.signal("SIGINT");
  expect((await program.ended()).code).toBe(0);
  expect(steps(program.err)).toEqual(STEPS.slice(1));
});
