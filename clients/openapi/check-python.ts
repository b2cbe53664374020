import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { generateClient } from "./generator.js";
import { runProgram, type Target } from "./target.js";
import { createEnvironment } from "./python-environment.js";

const script = fileURLToPath(new URL("python/check.py", import.meta.url));
const requirements = fileURLToPath(new URL("python/requirements.txt", import.meta.url));

/** Imports the generated client, and calls the service with it. */
export async function checkPython(target: Target): Promise<string> {
  const python = await createEnvironment(join(target.folder, "python-environment"), requirements);
  const project = await generateClient(target, "python", ["packageName=offledger_client"]);
  writeFileSync(join(project, "document.json"), JSON.stringify(target.document));
  cpSync(script, join(project, "check.py"));
  const output = await runProgram(python, ["check.py", target.url, "document.json"], project);
  return output.trim();
}
