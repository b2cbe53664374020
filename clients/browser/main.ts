/** Opens the page in a headless Chromium, from an origin of its own, and prints a line of JSON for every check. */
import { Browser, chromium } from "../../test/docs-page/chromium.js";
import type { Environment } from "./checks.js";
import { servePage } from "./origin.js";
import type { Line } from "./page.js";

const origin = await servePage(new URL("page.ts", import.meta.url));
try {
  const [argument = ""] = process.argv.slice(2);
  if (argument !== "build") process.exitCode = (await runChecks(argument)) ? 0 : 1;
} finally {
  await origin.close();
}

/** Returns whether all checks passed. */
async function runChecks(stack: string): Promise<boolean> {
  const protocol = /^connect-web\/(connect|grpc-web)$/.exec(stack)?.[1];
  if (protocol === undefined) {
    throw new Error(`the argument must be build, connect-web/connect or connect-web/grpc-web, but is "${stack}"`);
  }
  if (chromium === undefined) throw new Error("chromium must be on the PATH, but is not");
  const environment = readEnvironment();
  const browser = await Browser.start(chromium);
  try {
    const page = await browser.open(origin.url);
    await page.settled();
    let passed = true;
    for (const name of (await page.evaluate("names")) as string[]) {
      const parameters = [name, protocol, environment].map((one) => JSON.stringify(one));
      const line = (await page.evaluate(`run(${parameters.join(", ")})`)) as Line;
      passed &&= line.ok;
      process.stdout.write(`${JSON.stringify(line)}\n`);
    }
    return passed;
  } finally {
    await browser.close();
  }
}

function readEnvironment(): Environment {
  return {
    open: variable("OFFLEDGER_URL"),
    tokens: variable("OFFLEDGER_URL_TOKENS"),
    token: variable("OFFLEDGER_TOKEN"),
    starting: variable("OFFLEDGER_URL_STARTING"),
    slow: variable("OFFLEDGER_URL_SLOW"),
    transfer: {
      registrar: variable("REGISTRAR"),
      sender: variable("SENDER"),
      receiver: variable("RECEIVER"),
      instrument: variable("INSTRUMENT"),
    },
    ledger: {
      factoryId: variable("FACTORY_ID"),
      factoryBlob: variable("FACTORY_BLOB"),
      configurationId: variable("CONFIGURATION_ID"),
    },
    expectsDetails: process.env["OFFLEDGER_EXPECT_DETAILS"] === "1",
  };
}

function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") throw new Error(`${name} must be set`);
  return value;
}
