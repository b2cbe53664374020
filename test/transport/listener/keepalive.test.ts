import { once } from "node:events";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { Keepalive } from "../../../src/transport/listener/keepalive.js";
import {
  END_HEADERS,
  END_STREAM,
  frame,
  FrameConnection,
  PREFACE,
  requestHeaders,
  settings,
  Type,
} from "../../fixtures/http2-frames.js";
import { until } from "../../fixtures/wait.js";

/** Responds to each request with a byte. */
async function startServer(): Promise<{ readonly server: http2.Http2Server; readonly url: string }> {
  const server = http2.createServer((_request, response) => response.end("a"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** The server's side of a real session. */
async function openSession(): Promise<http2.ServerHttp2Session> {
  const { server, url } = await startServer();
  const client = http2.connect(url);
  onTestFinished(() => client.destroy());
  const [session] = await once(server, "session");
  return session;
}

/** The server's side of a session whose client has left no window for a response, and then broken the protocol if `isBroken`. */
async function openUnread(isBroken: boolean): Promise<http2.ServerHttp2Session> {
  const { server, url } = await startServer();
  const opened = once(server, "session");
  const connection = await FrameConnection.to(url, false);
  const request = frame(Type.headers, END_HEADERS | END_STREAM, 1, requestHeaders("/"));
  connection.send(PREFACE, settings({ 4: 0 }), request);
  const [session] = await opened;
  onTestFinished(() => session.destroy());
  await until("the response begins", () => connection.of(Type.headers, 1).length > 0);
  if (!isBroken) return session;
  // DATA on no stream.
  connection.send(frame(Type.data, 0, 0, "x"));
  await until("GOAWAY is received", () => connection.codeOf(Type.goaway) !== undefined);
  return session;
}

test("a destroyed session gets no PING", async () => {
  const session = await openSession();
  const now = performance.now();
  const keepalive = new Keepalive(session, now);
  session.destroy();
  // A PING is long due. Node.js would throw.
  expect(
    keepalive.isGone(now + 60_000, { quietSince: now, isResponding: false, hasUnsentBytes: false, bytesWritten: 0 }),
  ).toBe(false);
});

test("a session that answers is never gone; it gets a PING once it is quiet, then every 20 seconds", async () => {
  const session = await openSession();
  const ping = vi.spyOn(session, "ping");
  const now = performance.now();
  const keepalive = new Keepalive(session, now);
  const activity = { quietSince: now, isResponding: false, hasUnsentBytes: false, bytesWritten: 0 };
  for (let seconds = 1; seconds <= 100; seconds++) {
    expect(keepalive.isGone(now + seconds * 1_000, activity)).toBe(false);
    // The answer to this PING follows the answers to earlier ones.
    await new Promise((resolve) => session.ping(resolve));
  }
  // 100 of this test, and 5 of the keepalive: after 1, 22, 43, 64 and 85 seconds. That is more than may stay unanswered.
  expect(ping.mock.calls).toHaveLength(100 + 5);
});

test("the first PING is sent when a session is quiet for a moment, later ones when it is for seconds", async () => {
  const session = await openSession();
  const ping = vi.spyOn(session, "ping");
  const begin = performance.now();
  const keepalive = new Keepalive(session, begin);
  // A stream ends at these times, and the session is quiet for some milliseconds then.
  const pings = ([quietSince, quietMs]: readonly [number, number]): number => {
    const activity = { quietSince: begin + quietSince, isResponding: false, hasUnsentBytes: false, bytesWritten: 0 };
    expect(keepalive.isGone(begin + quietSince + quietMs, activity)).toBe(false);
    return ping.mock.calls.length;
  };
  const times = [
    [0, 40],
    [0, 60],
    [100, 1_900],
    [100, 2_100],
  ] as const;
  expect(times.map(pings)).toEqual([0, 1, 1, 2]);
});

test("a session is not gone while its PING waits for the end of the tick", async () => {
  const session = await openSession();
  const now = performance.now();
  const keepalive = new Keepalive(session, now);
  const activity = { quietSince: now, isResponding: false, hasUnsentBytes: false, bytesWritten: 0 };
  const checks = [1_000, 2_000, 4_000].map((later) => keepalive.isGone(now + later, activity));
  expect(session.state.outboundQueueSize).toBeGreaterThan(0);
  expect(checks).toEqual([false, false, false]);
});

/** Node.js 22.23 and 24.21 destroy a session after a protocol error. */
const endsBrokenSessions = Number.parseInt(process.versions.node, 10) > 20;

const responding = [
  ["is gone once a PING is not sent though the socket has no unsent bytes", true, false, true, 100],
  ["is not gone if bytes have been written since: what waits may be a response", true, false, false, 117],
  ["is not gone while the socket has unsent bytes: the client may read slowly", true, true, false, 100],
  ["is not gone without a protocol error: the client may open the window later", false, false, false, 100],
] as const;

test.each(responding.filter(([, isBroken]) => !isBroken || !endsBrokenSessions))(
  "a session in the middle of a response %s",
  async (_what, isBroken, hasUnsentBytes, isGone, bytesWritten) => {
    const session = await openUnread(isBroken);
    const now = performance.now();
    const keepalive = new Keepalive(session, now);
    const activity = { quietSince: now, isResponding: true, hasUnsentBytes, bytesWritten: 100 };
    // Sends the PING.
    expect(keepalive.isGone(now + 3_000, activity)).toBe(false);
    await new Promise(setImmediate);
    expect(keepalive.isGone(now + 15_000, { ...activity, bytesWritten })).toBe(isGone);
  },
);
