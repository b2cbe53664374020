/** The built program with an instruments file. `npm test` builds it first. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { element, payload } from "../fixtures/elements.js";
import { registry } from "../fixtures/run-service.js";
import { until, within } from "../fixtures/wait.js";

const program = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const TIMEOUT_MS = 20_000;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "offledger-start-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function writeLines(name: string, ...lines: readonly string[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

/** Starts the program, with no OFFLEDGER_ variables but those given. */
function start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("OFFLEDGER_"));
  const quiet = { OFFLEDGER_LOG_LEVEL: "silent", OFFLEDGER_PORT: "0" };
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: { ...Object.fromEntries(clean), ...quiet, ...env },
  });
  const output = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.err += text));
  const closed = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await closed;
  });
  const ended = async () => {
    await within(TIMEOUT_MS, "the program has ended", closed);
    return { code: child.exitCode, ...output };
  };
  return { child, output, ended };
}

describe.each(["serve", "check"])("%s", (command) => {
  test("exits with 2, and names the variable, and line and key of every problem", async () => {
    const path = await writeLines(
      "wrong.yaml",
      "acme::1220:",
      "  USD:",
      "    name: Dollar",
      "    decimals: 11",
      "  EUR:",
      "    symbl: E",
    );
    const { code, out, err } = await start([command], { OFFLEDGER_INSTRUMENTS: path }).ended();
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err.startsWith("offledger: OFFLEDGER_INSTRUMENTS must be ")).toBe(true);
    expect(err).toContain(`\n${path}:4:5: acme::1220.USD.decimals: must be`);
    expect(err).toContain(`\n${path}:6:5: acme::1220.EUR.symbl: is not a known field`);
    expect(err).not.toMatch(/^ +at /m);
  });

  test("exits with 2 for a file that is not YAML, with the line", async () => {
    const path = await writeLines("broken.yaml", "acme::1220:", "\tUSD: {}");
    const { code, out, err } = await start([command, "--instruments", path]).ended();
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("OFFLEDGER_INSTRUMENTS");
    expect(err).toContain(`${path}:2:1: `);
    expect(err).not.toMatch(/^ +at /m);
  });

  test("exits with 2 for a missing file", async () => {
    const path = join(folder, "nothing.yaml");
    const { code, out, err } = await start([command, "--instruments", path]).ended();
    expect({ code, out }).toEqual({ code: 2, out: "" });
    for (const part of ["OFFLEDGER_INSTRUMENTS", path, "ENOENT"]) expect(err).toContain(part);
    expect(err).not.toMatch(/^ +at /m);
  });
});

test("a valid file is served", async () => {
  const path = await writeLines("good.yaml", "registrar::1220:", "  USD: {name: Dollar, decimals: 2}");
  const elements = [
    element("AllocationFactory", "factory", payload.service()),
    element("InstrumentConfiguration", "usd", payload.configuration("USD")),
  ];
  const snapshot = await writeLines("registry.ndjson", ...elements.map((one) => JSON.stringify(one)));
  const { child, output, ended } = start(["serve", "--snapshot", snapshot], { OFFLEDGER_INSTRUMENTS: path });
  await until("it serves", () => /^offledger serves .*\n/.test(output.out) || child.exitCode !== null, TIMEOUT_MS);
  const [url = ""] = /http:\/\/[\d.:]+/.exec(output.out) ?? [];
  const response = await fetch(`${url}${registry()}/metadata/v1/instruments/USD`);
  expect(await response.json()).toMatchObject({ id: "USD", name: "Dollar", symbol: "USD", decimals: 2 });
  child.kill("SIGTERM");
  expect(await ended()).toMatchObject({ code: 0, err: "" });
});
