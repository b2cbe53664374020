import { once } from "node:events";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { Keepalive } from "../../../src/transport/listener/keepalive.js";

/** The server's side of a real session. */
async function openSession(): Promise<http2.ServerHttp2Session> {
  const server = http2.createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  const [session] = await once(server, "session");
  return session;
}

test("a destroyed session gets no PING", async () => {
  const session = await openSession();
  const now = performance.now();
  const keepalive = new Keepalive(session, now);
  session.destroy();
  // A PING is long due. Node.js would throw.
  expect(keepalive.isGone(now + 60_000, now)).toBe(false);
});

test("a session that answers is never gone; it gets a PING once it is quiet, then every 20 seconds", async () => {
  const session = await openSession();
  const ping = vi.spyOn(session, "ping");
  const now = performance.now();
  const keepalive = new Keepalive(session, now);
  for (let seconds = 1; seconds <= 100; seconds++) {
    expect(keepalive.isGone(now + seconds * 1_000, now)).toBe(false);
    // The answer to this PING follows the answers to earlier ones.
    await new Promise((resolve) => session.ping(resolve));
  }
  // 100 of this test, and 5 of the keepalive: after 3, 24, 45, 66 and 87 seconds. That is more than may stay unanswered.
  expect(ping.mock.calls).toHaveLength(100 + 5);
});
