import { once } from "node:events";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { Keepalive } from "../../../src/transport/listener/keepalive.js";

/** A session of a real server, and what it was asked. */
async function session(): Promise<http2.ServerHttp2Session> {
  const server = http2.createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  const [theirs] = await once(server, "session");
  return theirs;
}

test("a session that is being ended is not asked any more", async () => {
  const one = await session();
  const now = performance.now();
  const keepalive = new Keepalive(one, now);
  one.destroy();
  // Long after the time to ask. Node.js would throw.
  expect(keepalive.isGone(now + 60_000, now)).toBe(false);
});

test("one that answers is never gone, and is asked once it is quiet, and every 20 seconds", async () => {
  const one = await session();
  const ping = vi.spyOn(one, "ping");
  const now = performance.now();
  const keepalive = new Keepalive(one, now);
  for (let seconds = 1; seconds <= 100; seconds++) {
    expect(keepalive.isGone(now + seconds * 1_000, now)).toBe(false);
    // Behind what it was asked before.
    await new Promise((resolve) => one.ping(resolve));
  }
  // Besides ours: after 3 seconds, and after 24, 45, 66 and 87, when more than 20 have gone by: more often than it may give none.
  expect(ping.mock.calls).toHaveLength(100 + 5);
});
