import { join } from "node:path";
import { requireProgram, runProgram } from "./target.js";

/** Creates a virtual environment with the pinned packages, and returns its interpreter. */
export async function createEnvironment(folder: string, requirements: string): Promise<string> {
  await requireProgram("python3", "-c", "import sys, venv, ensurepip; assert sys.version_info >= (3, 10)");
  await runProgram("python3", ["-m", "venv", folder], ".");
  const python = join(folder, "bin/python");
  const install = ["-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check", "-r", requirements];
  await runProgram(python, install, ".");
  return python;
}
