/**
 * Checks the OpenAPI document of a running service with the tools of those who use it: generated clients in Java and
 * Python are compiled and called, and Schemathesis sends thousands of requests. A check whose toolchain is missing is
 * skipped. Needs the package registries of Maven and Python, unless their caches have everything.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { startApp } from "../../src/app/app.js";
import { readConfig } from "../../src/config/config.js";
import { checkJava } from "./check-java.js";
import { checkPython } from "./check-python.js";
import { checkWithSchemathesis } from "./check-schemathesis.js";
import { type Check, MissingTool, type Target } from "./target.js";

const checks: Readonly<Record<string, Check>> = {
  "Java client": checkJava,
  "Python client": checkPython,
  Schemathesis: checkWithSchemathesis,
};

const folder = fileURLToPath(new URL("build/", import.meta.url));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);

// As `npm start` serves it, on a free port.
const read = readConfig([], { OFFLEDGER_PORT: "0", OFFLEDGER_LOG_LEVEL: "error", OFFLEDGER_MAX_DELAY_MS: "0" });
if (!read.ok) throw new Error(read.errors.join("\n"));
const app = await startApp(read.config);
try {
  const response = await fetch(`${app.url}/api/utilities/v0/openapi`);
  const document = (await response.json()) as Target["document"];
  const documentFile = `${folder}openapi.json`;
  writeFileSync(documentFile, JSON.stringify(document, null, 2));
  for (const [name, check] of Object.entries(checks)) {
    await run(name, () => check({ url: app.url, document, documentFile, folder }));
  }
} finally {
  await app.close();
}

async function run(name: string, check: () => Promise<string>): Promise<void> {
  const startedAt = performance.now();
  const report = (outcome: string) => {
    process.stdout.write(`${name}: ${outcome} (${Math.round((performance.now() - startedAt) / 1000)} s)\n`);
  };
  try {
    report(`ok: ${await check()}`);
  } catch (error) {
    if (error instanceof MissingTool) return report(`skipped: ${error.message}`);
    process.exitCode = 1;
    report(`failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}
