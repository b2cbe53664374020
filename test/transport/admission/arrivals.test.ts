/** More requests at once than the budget has room for. */
import http2 from "node:http2";
import net from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../fixtures/wait.js";
import { head, path, Served } from "./served.js";

const LIMIT = 20;
/** Its requests have no share of an address. */
const PROXY = "127.0.0.3";
const served = new Served({ requests: LIMIT }, [PROXY]);
const { budgets } = served;

/** Opens a connection from the proxy. */
function connect(): net.Socket {
  const socket = net.connect({ host: served.url.hostname, port: Number(served.url.port), localAddress: PROXY });
  onTestFinished(() => void socket.destroy());
  return socket.on("error", () => undefined);
}

/** Waits until so many are refused and the others under way. */
const expectRefused = async (count: () => number, refused: number) => {
  await until("some are refused", () => count() >= refused);
  // The body of a request never ends here: what is not refused stays under way.
  await until("the others are under way", () => budgets.requests.used === LIMIT);
  expect(count()).toBe(refused);
};

test.runIf(process.platform === "linux")("on new connections, as many are under way as fit", async () => {
  let refused = 0;
  // They are accepted in turns of their own, in which requests wait.
  for (let at = 0; at < 200; at++) {
    const socket = connect().once("data", (chunk) => {
      expect(chunk.toString()).toMatch(/^HTTP\/1\.1 503 /);
      refused++;
    });
    socket.write(`${head(100)} `);
  }
  await expectRefused(() => refused, 200 - LIMIT);
});

test.runIf(process.platform === "linux")("on one connection, those are refused that came last", async () => {
  await until("nothing is under way", () => served.isUnused());
  const session = http2.connect(served.url, { createConnection: connect });
  onTestFinished(() => session.destroy());
  session.on("error", () => undefined);
  const refused: number[] = [];
  // Sixteen are handled at once, and the others wait.
  for (let at = 1; at <= 24; at++) {
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/json" });
    stream
      .on("error", () => undefined)
      .on("response", () => {
        refused.push(at);
        stream.close();
      });
    stream.write(" ");
  }
  await expectRefused(() => refused.length, 4);
  expect(refused).toEqual([21, 22, 23, 24]);
});
