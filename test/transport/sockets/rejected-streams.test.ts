/** Streams of HTTP/2 that are rejected at once are not kept until their time limits. */
import { once } from "node:events";
import http2 from "node:http2";
import net, { type AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Http2Sessions } from "../../../src/transport/http2-sessions.js";
import { heap } from "../../fixtures/heap.js";
import { until } from "../../fixtures/wait.js";

const STREAMS = 50;
/** Time limits that no test waits for. */
const limits = { maxHeaderBytes: 8_192, requestMs: 600_000, stalledMs: 600_000, maxConnections: 10, maxStreams: 100 };

test("a stream that its handler closes is collected", async () => {
  const streams: WeakRef<object>[] = [];
  const sessions = new Http2Sessions(limits, ({ stream }) => {
    streams.push(new WeakRef(stream));
    stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
  });
  const server = net.createServer((socket) => sessions.accept(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    client.destroy();
    sessions.destroy();
    server.close();
  });
  await Promise.all(
    Array.from({ length: STREAMS }, () => expect(once(client.request(), "response")).rejects.toThrow("REFUSED_STREAM")),
  );
  expect(streams).toHaveLength(STREAMS);
  await until("they are collected", () => {
    heap();
    return streams.every((one) => one.deref() === undefined);
  });
});
