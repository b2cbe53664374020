/** More callers at once than the queue of Node.js has room for. */
import { readFileSync } from "node:fs";
import net from "node:net";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { main, Program } from "../../fixtures/program.js";
import { until } from "../../fixtures/wait.js";

const SOMAXCONN = "/proc/sys/net/core/somaxconn";
/** Node.js queues 511. */
const CONNECTIONS = 600;

const limit = () => {
  try {
    return Number(readFileSync(SOMAXCONN, "utf8"));
  } catch {
    return 0;
  }
};

test.skipIf(limit() < CONNECTIONS)(
  "600 callers connect to a process that does not run, and are answered when it does",
  async () => {
    const env = { OFFLEDGER_PORT: "0", OFFLEDGER_HOST: "127.0.0.1" };
    const program = new Program(process.execPath, [main, "serve"], {
      cwd: fileURLToPath(new URL("../../..", import.meta.url)),
      env,
    });
    const [, port] = await program.printed(/serves .* at http:\/\/127\.0\.0\.1:(\d+)/);
    program.signal("SIGSTOP");
    const counts = { connected: 0, answered: 0 };
    for (let at = 0; at < CONNECTIONS; at++) {
      const socket = net.connect({ host: "127.0.0.1", port: Number(port) });
      onTestFinished(() => void socket.destroy());
      socket.once("connect", () => counts.connected++).once("data", () => counts.answered++);
      socket.on("error", () => {});
      socket.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    await until("all are connected", () => counts.connected === CONNECTIONS);
    expect(counts.answered).toBe(0);
    program.signal("SIGCONT");
    await until("all are answered", () => counts.answered === CONNECTIONS);
  },
);
