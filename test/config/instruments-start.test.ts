/** The built program with a file that names instruments: `npm test` builds it first. */
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
const BOUND_MS = 20_000;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "offledger-start-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function fileOf(name: string, ...lines: readonly string[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

/** Starts the program without variables of ours but those given. */
function start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("OFFLEDGER_"));
  const quiet = { OFFLEDGER_LOG_LEVEL: "silent", OFFLEDGER_PORT: "0" };
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: { ...Object.fromEntries(clean), ...quiet, ...env },
  });
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text));
  const closed = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await closed;
  });
  const ended = async () => {
    await within(BOUND_MS, "the program has ended", closed);
    return { code: child.exitCode, ...said };
  };
  return { child, said, ended };
}

describe.each(["serve", "check"])("%s", (command) => {
  test("ends with 2, and names the variable, the line and the key of every mistake", async () => {
    const path = await fileOf(
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
    expect(err).toContain(`\n${path}:4: acme::1220.USD.decimals must be`);
    expect(err).toContain(`\n${path}:6: acme::1220.EUR.symbl is not a known field`);
    expect(err).not.toMatch(/^ +at /m);
  });

  test("ends with 2 for what is not YAML, by its line", async () => {
    const path = await fileOf("broken.yaml", "acme::1220:", "\tUSD: {}");
    const { code, out, err } = await start([command, "--instruments", path]).ended();
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("OFFLEDGER_INSTRUMENTS");
    expect(err).toContain(`${path}:2: `);
    expect(err).not.toMatch(/^ +at /m);
  });

  test("ends with 2 for a file that is not there", async () => {
    const path = join(folder, "nothing.yaml");
    const { code, out, err } = await start([command, "--instruments", path]).ended();
    expect({ code, out }).toEqual({ code: 2, out: "" });
    for (const told of ["OFFLEDGER_INSTRUMENTS", path, "ENOENT"]) expect(err).toContain(told);
    expect(err).not.toMatch(/^ +at /m);
  });
});

test("a good file is served", async () => {
  const path = await fileOf("good.yaml", "registrar::1220:", "  USD: {name: Dollar, decimals: 2}");
  const elements = [
    element("AllocationFactory", "factory", payload.service()),
    element("InstrumentConfiguration", "usd", payload.configuration("USD")),
  ];
  const snapshot = await fileOf("registry.ndjson", ...elements.map((one) => JSON.stringify(one)));
  const { child, said, ended } = start(["serve", "--snapshot", snapshot], { OFFLEDGER_INSTRUMENTS: path });
  await until("it serves", () => /^offledger serves .*\n/.test(said.out) || child.exitCode !== null, BOUND_MS);
  const [url = ""] = /http:\/\/[\d.:]+/.exec(said.out) ?? [];
  const response = await fetch(`${url}${registry()}/metadata/v1/instruments/USD`);
  expect(await response.json()).toMatchObject({ id: "USD", name: "Dollar", symbol: "USD", decimals: 2 });
  child.kill("SIGTERM");
  expect(await ended()).toMatchObject({ code: 0, err: "" });
});
