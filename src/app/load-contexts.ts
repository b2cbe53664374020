import { open } from "node:fs/promises";
import type { Config } from "../config/config.js";
import { SettingError } from "../config/setting-error.js";
import { compileContexts, type UtilityContexts } from "../registry/utility/contexts/contexts.js";
import { ContextsError } from "../registry/utility/contexts/contexts-error.js";
import { MAX_YAML_BYTES, type ParsedYaml, parseYaml } from "../util/yaml.js";

/** More are cut: they have one cause. */
const MAX_PROBLEMS = 100;

/**
 * The choice contexts in force: those of the Registry Utility with the changes of a module and of the operator's file.
 * Throws SettingError with every problem, its line and its path; nothing is used of a file that has one. `extension` is
 * what the module exports, unchecked.
 */
export async function loadContexts(
  { contexts: path, registry }: Config,
  extension?: unknown,
): Promise<UtilityContexts> {
  const yaml = path === undefined ? parseYaml("") : await readYaml(path);
  try {
    return compileContexts(yaml.value, extension);
  } catch (error) {
    if (!(error instanceof ContextsError)) throw error;
    const { ofModule, ofFile } = error;
    if (ofModule.length > 0) throw moduleError(ofModule.map(({ reason }) => `${registry}: ${reason}`));
    const problems = ofFile
      .slice(0, MAX_PROBLEMS)
      .map(({ path: at, reason }) => ({ line: yaml.positionOf(at).line, reason }));
    const sorted = problems.toSorted((a, b) => a.line - b.line);
    throw fileError(
      sorted.map(({ line, reason }) => `${path}:${line}: ${reason}`),
      ofFile.length,
    );
  }
}

async function readYaml(path: string): Promise<ParsedYaml> {
  let content: Buffer;
  try {
    content = await readStart(path);
  } catch (error) {
    throw fileError([error instanceof Error ? error.message : String(error)]);
  }
  const yaml = parseYaml(content);
  if (yaml.errors.length === 0) return yaml;
  const shown = yaml.errors.slice(0, MAX_PROBLEMS);
  throw fileError(
    shown.map(({ line, message }) => `${path}:${line}: ${message}`),
    yaml.errors.length,
  );
}

/** Reads one byte more than is allowed, however large the file is: the path may be that of a device. */
async function readStart(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const buffer = Buffer.alloc(MAX_YAML_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read)
      ({ bytesRead: read } = await file.read(buffer, length, buffer.length - length));
    return buffer.subarray(0, length);
  } finally {
    await file.close();
  }
}

function fileError(problems: readonly string[], count = problems.length): SettingError {
  const more = count > problems.length ? [`and ${count - problems.length} more`] : [];
  const lines = [...problems, ...more].join("\n");
  return new SettingError("OFFLEDGER_CONTEXTS", "the path of a YAML file of choice contexts", `\n${lines}`);
}

const moduleError = (problems: readonly string[]) =>
  new SettingError(
    "OFFLEDGER_REGISTRY",
    "utility, minimal, or the path of a registry file or a JavaScript module",
    `\n${problems.join("\n")}`,
  );
