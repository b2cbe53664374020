/** Opens the page in a headless Chromium, from an origin of its own, and prints a line of JSON for every check. */
import { once } from "node:events";
import { createServer } from "node:net";
import { Browser, chromium } from "../../test/docs-page/chromium.js";
import { servePage } from "../../test/transport/middleware/page/origin.js";
import type { Environment } from "./checks.js";
import type { Line } from "./page.js";

const origin = await servePage(new URL("page.ts", import.meta.url));
if (process.argv[2] !== "build") process.exitCode = (await runChecks(readEnvironment())) ? 0 : 1;
await origin.close();

/** Returns whether all checks passed. */
async function runChecks(environment: Omit<Environment, "silent">): Promise<boolean> {
  if (chromium === undefined) throw new Error("chromium must be on the PATH, but is not");
  const silent = await serveSilence();
  const browser = await Browser.start(chromium);
  try {
    const page = await browser.open(origin.url);
    await page.settled();
    let passed = true;
    for (const name of (await page.evaluate("names")) as string[]) {
      const parameters = [name, { ...environment, silent: silent.url }].map((one) => JSON.stringify(one));
      for (const line of (await page.evaluate(`run(${parameters.join(", ")})`)) as Line[]) {
        passed &&= line.ok;
        process.stdout.write(`${JSON.stringify(line)}\n`);
      }
    }
    return passed;
  } finally {
    await browser.close();
    await silent.close();
  }
}

/** A server that accepts connections and never answers. */
async function serveSilence(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((socket) => socket.on("error", () => {}).resume()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.close();
      await once(server, "close");
    },
  };
}

function readEnvironment(): Omit<Environment, "silent"> {
  return {
    open: variable("OFFLEDGER_URL"),
    tokens: variable("OFFLEDGER_URL_TOKENS"),
    limited: variable("OFFLEDGER_URL_LIMITED"),
    starting: variable("OFFLEDGER_URL_STARTING"),
    transfer: {
      registrar: variable("REGISTRAR"),
      sender: variable("SENDER"),
      receiver: variable("RECEIVER"),
      instrument: variable("INSTRUMENT"),
    },
    expectsDetails: process.env["OFFLEDGER_EXPECT_DETAILS"] === "1",
  };
}

function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") throw new Error(`${name} must be set`);
  return value;
}
