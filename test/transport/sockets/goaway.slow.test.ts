/** Bytes that crash a plain node:http2 server of Node.js 20.20 and 24.11 (see upstream.ts), sent to a separate process. */
import { once } from "node:events";
import net from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { main, Program } from "../../fixtures/program.js";

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS = "000006040000000000000100000000";
/** Last stream 0, NO_ERROR. */
const GOAWAY = "0000080700000000000000400000000000";
/** The path of a gRPC call. */
const CALL = Buffer.from("offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory").toString(
  "hex",
);
/** That call on stream 7. */
const HEADERS =
  "0000a101040000000700073a6d6574686f6404504f535400073a736368656d65046874747000053a70617468502f" +
  CALL +
  "000a3a617574686f726974790161000c636f6e74656e742d74797065106170706c69636174696f6e2f67727063";
/** A PRIORITY frame that is one byte short. */
const SHORT_PRIORITY = "00000402000000000766299462";

test("GOAWAY followed by a malformed frame in the same bytes ends only its connection", async () => {
  const program = new Program(process.execPath, [main, "serve", "--port", "0", "--log-level", "silent"], {
    cwd: process.cwd(),
  });
  onTestFinished(async () => {
    program.signal("SIGTERM");
    await program.ended();
  });
  const [, port = ""] = await program.printed(/^offledger serves .* at http:\/\/[\w.]+:(\d+)\n/);
  const bytes = Buffer.from(SETTINGS + GOAWAY + HEADERS + SHORT_PRIORITY, "hex");
  const attack = async () => {
    const socket = net.connect(Number(port), "127.0.0.1");
    socket.on("error", () => undefined).resume();
    socket.write(Buffer.concat([Buffer.from(PREFACE), bytes]));
    await once(socket, "close");
  };
  await Promise.all(Array.from({ length: 10 }, attack));
  expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
});
