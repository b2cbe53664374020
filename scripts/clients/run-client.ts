/** Builds a client, and runs the checks of a stack. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Client, Stack } from "./folders.js";

/** The first build downloads and compiles a toolchain's packages. */
const BUILD_MS = 30 * 60_000;
const RUN_MS = 4 * 60_000;

export interface Check {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** Throws if the build fails. */
export async function buildClient({ script }: Client): Promise<void> {
  const child = start(script, "build", {});
  child.stdout.pipe(process.stderr);
  const code = await exitCode(child, BUILD_MS);
  if (code !== 0) throw new Error(`${script} build must end with 0, but ended with ${code}`);
}

/** The checks that a stack printed; `onCheck` gets each at once. */
export async function runStack(
  { script }: Client,
  { name }: Stack,
  environment: Readonly<Record<string, string>>,
  onCheck: (check: Check) => void,
): Promise<Check[]> {
  const checks: Check[] = [];
  const add = (check: Check): void => {
    checks.push(check);
    onCheck(check);
  };
  const child = start(script, name, environment);
  createInterface({ input: child.stdout }).on("line", (line) => add(parseCheck(line)));
  const code = await exitCode(child, RUN_MS);
  if (code !== 0 && checks.every(({ ok }) => ok)) {
    add({ check: "exit code", ok: false, detail: `${script} ${name} must end with 0, but ended with ${code}` });
  }
  if (checks.length === 0) add({ check: "output", ok: false, detail: "a client must print checks, but printed none" });
  return checks;
}

function parseCheck(line: string): Check {
  try {
    const { check, ok, detail } = JSON.parse(line) as Partial<Check>;
    if (typeof check === "string" && typeof ok === "boolean") return { check, ok, detail: String(detail) };
  } catch {
    // Not JSON: reported below.
  }
  return { check: "output", ok: false, detail: `a line of output must be a check in JSON, but is ${line}` };
}

type Child = ChildProcessByStdio<null, Readable, null>;

/** In a process group of its own, so that a timeout ends all that the script started. */
function start(script: string, argument: string, environment: Readonly<Record<string, string>>): Child {
  const env = { ...process.env, ...environment };
  return spawn(script, [argument], { env, detached: true, stdio: ["ignore", "pipe", "inherit"] });
}

/** Null if the time was up or a signal ended it. */
async function exitCode(child: Child, withinMs: number): Promise<number | null> {
  const killGroup = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  };
  const timer = setTimeout(killGroup, withinMs);
  // The runner's own end must not leave the client behind.
  process.once("SIGINT", killGroup).once("SIGTERM", killGroup);
  try {
    await once(child, "close");
    return child.exitCode;
  } finally {
    clearTimeout(timer);
    process.off("SIGINT", killGroup).off("SIGTERM", killGroup);
  }
}
