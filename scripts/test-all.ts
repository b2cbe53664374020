/**
 * npm run test:all: every test of vitest and, beside it, malformed input and load with faults, whose output follows that of
 * vitest; then the clients of other languages, which ask a service that sheds load, so that they need the machine. Ends
 * with 1 if one failed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

interface Step {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Without the scripts before them, which would build once more. */
const script = (name: string): readonly string[] => ["run", "--silent", "--ignore-scripts", name];

const besides: readonly Step[] = [
  { name: "fuzz", args: script("fuzz"), env: { OFFLEDGER_FUZZ_INPUTS: "50000" } },
  { name: "soak", args: script("soak"), env: { OFFLEDGER_SOAK_MINUTES: "2" } },
];

const results: string[] = [];

/** Returns what the step printed, unless it prints at once. */
async function run({ name, args, env }: Step, output: "pipe" | "inherit"): Promise<string> {
  const start = performance.now();
  const child = spawn("npm", args, { env: { ...env, ...process.env }, stdio: ["ignore", output, output] });
  const printed = Promise.all(
    [child.stdout, child.stderr].map(async (stream) => (stream === null ? "" : text(stream))),
  );
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) process.exitCode = 1;
  results.push(`${code === 0 ? "ok    " : "FAILED"} ${name}: ${Math.round((performance.now() - start) / 1_000)} s`);
  return `\n${name}\n${(await printed).join("")}`;
}

async function runBesides(): Promise<string> {
  let printed = "";
  for (const step of besides) printed += await run(step, "pipe");
  return printed;
}

const printed = runBesides();
await run({ name: "vitest", args: ["exec", "vitest", "run"] }, "inherit");
process.stdout.write(await printed);
await run({ name: "clients", args: script("test:clients") }, "inherit");
process.stdout.write(`\n${results.join("\n")}\n`);
