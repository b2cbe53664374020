/** Bytes that end a bare server of HTTP/2 on Node.js 20.20 and 24.11; they are sent to a process of its own. */
import { once } from "node:events";
import net from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { main, Program } from "../fixtures/program.js";

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS = "000006040000000000000100000000";
/** Takes leave, of no stream and without an error. */
const GOAWAY = "0000080700000000000000400000000000";
/** `:method: POST`, `:scheme: http`, `:path: /`, on stream 7. */
const HEADERS = "000003010400000007838684";
/** One byte shorter than a priority is. */
const SHORT_PRIORITY = "00000402000000000766299462";

test("a frame that is malformed behind a leave in the same bytes ends its connection alone", async () => {
  const program = new Program(process.execPath, [main, "serve", "--port", "0", "--log-level", "silent"], { cwd: process.cwd() });
  onTestFinished(async () => {
    program.signal("SIGTERM");
    await program.ended();
  });
  const [, port = ""] = await program.printed(/^offledger serves .* at http:\/\/[\w.]+:(\d+)\n/);
  const bytes = Buffer.from(SETTINGS + GOAWAY + HEADERS + SHORT_PRIORITY, "hex");
  for (let time = 0; time < 10; time++) {
    const socket = net.connect(Number(port), "127.0.0.1");
    socket.on("error", () => undefined).resume();
    socket.write(Buffer.concat([Buffer.from(PREFACE), bytes]));
    await once(socket, "close");
  }
  expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
});
