/** How a connection is read, by its first bytes: at once, or in slices that take turns with other connections. */
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createBudgets } from "../../../src/transport/admission/budgets.js";
import { isOneRequest } from "../../../src/transport/listener/first-bytes.js";
import { Listener } from "../../../src/transport/listener/listener.js";
import { Connection } from "../../fixtures/raw-connection.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until } from "../../fixtures/wait.js";

const KB = 1024;
const post = (...fields: readonly string[]) => `POST / HTTP/1.1\r\nHost: a\r\n${fields.join("\r\n")}\r\n\r\n`;

test.each<[string, string, boolean]>([
  ["a request with its body", post("Content-Length: 3") + "abc", true],
  ["the beginning of a body", post("content-length:9000", "X: 1") + "abc", true],
  ["a request without a body yet", post("A: b", "CONTENT-LENGTH: \t5 "), true],
  ["two requests", post("Content-Length: 3") + "abcPOST", false],
  ["two requests without bodies", "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", false],
  ["chunks", post("Transfer-Encoding: chunked") + "1\r\na\r\n", false],
  ["a length in the body", post("A: b") + "\r\nContent-Length: 9000\r\n\r\n", false],
  ["a length that is no number", post("Content-Length: 1e9") + "abc", false],
  ["a length that is too long for a number", post(`Content-Length: ${"9".repeat(16)}`) + "abc", false],
  ["a head without end", "POST / HTTP/1.1\r\nContent-Length: 3\r\n", false],
  ["nothing", "", false],
])("%s", (_name, text, expected) => {
  expect(isOneRequest(Buffer.from(text))).toBe(expected);
});

/** The longest piece of a body that a handler gets of a connection with these first bytes, and others later. */
async function longestPiece(bytes: string, laterBytes?: string): Promise<number> {
  let longest = 0;
  let requests = 0;
  const listener = new Listener(TEST_SERVER_OPTIONS.connections, createBudgets());
  const server = listener.factory((request, response) => {
    requests++;
    request.on("data", (piece: Buffer) => (longest = Math.max(longest, piece.length)));
    request.on("end", () => response.end());
  }, {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  onTestFinished(() => {
    listener.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const client = await Connection.to(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => client.end());
  await client.send(bytes);
  if (laterBytes !== undefined) {
    await until("the head has arrived", () => requests === 1);
    // The rest of its turn.
    await nextTurn();
    await client.send(laterBytes);
  }
  await client.respond(1);
  return longest;
}

test("one large request is read at once", async () => {
  expect(await longestPiece(post(`Content-Length: ${40 * KB}`) + "x".repeat(40 * KB))).toBeGreaterThan(4 * KB);
});

test.each([
  ["a large request with another one after it", post(`Content-Length: ${20 * KB}`) + "x".repeat(20 * KB) + post()],
  ["chunks", post("Transfer-Encoding: chunked") + `5000\r\n${"x".repeat(20 * KB)}\r\n0\r\n\r\n`],
])("%s are read in slices", async (_name, bytes) => {
  const longest = await longestPiece(bytes);
  expect(longest).toBeGreaterThan(0);
  expect(longest).toBeLessThanOrEqual(4 * KB);
});

test("chunks that follow their head later are read in slices", async () => {
  const longest = await longestPiece(post("Transfer-Encoding: chunked"), `5000\r\n${"x".repeat(20 * KB)}\r\n0\r\n\r\n`);
  expect(longest).toBeGreaterThan(0);
  expect(longest).toBeLessThanOrEqual(4 * KB);
});
