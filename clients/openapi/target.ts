import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { JsonObject, JsonValue } from "../../src/util/json.js";

/** A running service and its document. */
export interface Target {
  readonly url: string;
  readonly document: { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };
  readonly documentFile: string;
  /** For generated files; it is empty at first. */
  readonly folder: string;
}

export interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly example?: JsonValue }[];
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly example: JsonObject } } };
}

/** Returns what was checked. Throws if the check fails; MissingTool if it cannot be made here. */
export type Check = (target: Target) => Promise<string>;

export class MissingTool extends Error {}

const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;
const TIMEOUT_MS = 600_000;
const SHOWN_CHARACTERS = 4_000;

const execute = promisify(execFile);

/** Runs a program and returns its output. Throws with the end of the output if it fails. */
export async function runProgram(program: string, args: readonly string[], cwd: string): Promise<string> {
  try {
    const { stdout } = await execute(program, args, { cwd, maxBuffer: MAX_OUTPUT_BYTES, timeout: TIMEOUT_MS });
    return stdout;
  } catch (error) {
    const {
      stdout = "",
      stderr = "",
      message,
    } = error as Error & { readonly stdout?: string; readonly stderr?: string };
    const output = (stdout + stderr).trim();
    throw new Error(`${program} failed: ${output === "" ? message : output.slice(-SHOWN_CHARACTERS)}`, {
      cause: error,
    });
  }
}

/** Throws MissingTool unless the program runs. */
export async function requireProgram(program: string, ...args: readonly string[]): Promise<void> {
  try {
    await execute(program, args);
  } catch {
    throw new MissingTool(`${program} ${args.join(" ")} does not run here`);
  }
}

/** The operation of that id. Throws if the document has none. */
export function operationOf({ document }: Target, operationId: string): Operation {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const found = operations.find((operation) => operation.operationId === operationId);
  if (found === undefined) throw new Error(`the document has no operation ${operationId}`);
  return found;
}

/** The examples of path parameters, by name. */
export function pathExamples({ document }: Target): Map<string, JsonValue> {
  const examples = new Map<string, JsonValue>();
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    for (const { name, in: place, example } of operation.parameters ?? []) {
      if (place === "path" && example !== undefined) examples.set(name, example);
    }
  }
  return examples;
}
