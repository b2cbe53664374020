import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createEnvironment } from "./python-environment.js";
import { pathExamples, runProgram, type Target } from "./target.js";

const requirements = fileURLToPath(new URL("schemathesis/requirements.txt", import.meta.url));

/**
 * Nothing but the listed statuses, with the listed headers and bodies. Not checked: that the service rejects what the
 * document does not allow, since it ignores unknown fields; and other methods, which 405 is tested for elsewhere.
 */
const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
];
/** Bounds of a run: the phases end when their time is over. */
const WITH_IDS_SECONDS = 60;
const WITHOUT_IDS_SECONDS = 30;
const SEED = 20_260_601;

/** Sends requests with the ids of existing contracts, then with ids of any form. */
export async function checkWithSchemathesis(target: Target): Promise<string> {
  const folder = join(target.folder, "schemathesis-environment");
  const python = await createEnvironment(folder, requirements);
  const withIds = [...pathExamples(target)].map(([name, value]) => `"path.${name}" = ${JSON.stringify(value)}\n`);
  const counts = [
    await run(target, python, "with-ids", `[parameters]\n${withIds.join("")}`, WITH_IDS_SECONDS, [
      "examples",
      "coverage",
      "fuzzing",
    ]),
    await run(target, python, "without-ids", "", WITHOUT_IDS_SECONDS, ["fuzzing"]),
  ];
  return `${counts[0]} requests with ids of the demo, ${counts[1]} with others`;
}

/** Returns the number of requests. Throws if one of them has an answer that the document does not list. */
async function run(
  { url, folder }: Target,
  python: string,
  name: string,
  config: string,
  seconds: number,
  phases: readonly string[],
): Promise<number> {
  const configFile = join(folder, `${name}.toml`);
  writeFileSync(configFile, config);
  const options = {
    phases: phases.join(","),
    checks: CHECKS.join(","),
    "max-time": String(seconds),
    seed: String(SEED),
    // With more workers the coverage phase of this version fails within itself.
    workers: "1",
    "generation-database": "none",
    // It streams without end.
    "exclude-path": "/api/offledger/v1/watch",
  };
  const program = ["-m", "schemathesis.cli", "--config-file", configFile, "run", "--no-color"];
  const flags = Object.entries(options).map(([option, value]) => `--${option}=${value}`);
  const output = await runProgram(python, [...program, ...flags, `${url}/api/utilities/v0/openapi`], folder);
  const count = Number(/(\d+) generated/.exec(output)?.[1] ?? 0);
  if (count === 0) throw new Error(`Schemathesis sent nothing: ${output.slice(-1_000)}`);
  return count;
}
