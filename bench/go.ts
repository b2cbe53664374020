/** Builds and starts baseline.go, which does in Go what baseline.ts does. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Baseline } from "./baseline.js";
import { within } from "../test/fixtures/wait.js";

const SOURCE = fileURLToPath(new URL("baseline.go", import.meta.url));
const TIMEOUT_MS = 30_000;

/** Whether Go is at hand, with HTTP/2 without TLS in its net/http: 1.24 or later. */
export function isGoAtHand(): boolean {
  try {
    const [, minor = 0] = /go1\.(\d+)/.exec(execFileSync("go", ["env", "GOVERSION"], { encoding: "utf8" })) ?? [];
    return Number(minor) >= 24;
  } catch {
    return false;
  }
}

/** The folder of the program. */
export async function buildGo() {
  const folder = await mkdtemp(join(tmpdir(), "offledger-bench-go-"));
  execFileSync("go", ["build", "-o", folder, SOURCE], { stdio: ["ignore", "ignore", "inherit"] });
  return { folder, stop: () => rm(folder, { recursive: true }) };
}

/** Answers with the bodies in turn. */
export async function startGo(folder: string, { type, bodies }: Omit<Baseline, "server">) {
  const child = spawn(join(folder, "baseline"), { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface(child.stdout);
  const ask = async (line: string): Promise<string> => {
    const reply = once(lines, "line") as Promise<[string]>;
    child.stdin.write(`${line}\n`);
    return (await within(TIMEOUT_MS, "the program in Go replies", reply))[0];
  };
  const encoded = bodies.map((body) => Buffer.from(body).toString("base64"));
  return {
    url: await ask(JSON.stringify({ type, bodies: encoded })),
    cpu: async () => Number(await ask("")),
    async stop() {
      const exit = once(child, "exit");
      child.stdin.end();
      await exit;
    },
  };
}
