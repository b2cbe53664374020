/** Reads a registry file. Every mistake is found at once, each with its line and column. */
import { parseYaml } from "../../util/yaml.js";
import { mistakesOf, registryFile, type RegistryFile } from "./definition.js";

export type LoadedFile =
  | { readonly file: RegistryFile; readonly problems?: undefined }
  /** Each as `line:column: what is wrong`, in the order of the file. */
  | { readonly file?: undefined; readonly problems: readonly string[] };

export function parseRegistryFile(content: Uint8Array | string): LoadedFile {
  const yaml = parseYaml(content);
  if (yaml.errors.length > 0)
    return { problems: yaml.errors.map(({ line, column, message }) => `${line}:${column}: ${message}`) };
  const parsed = registryFile.safeParse(yaml.value);
  const mistakes = parsed.success ? mistakesOf(parsed.data) : parsed.error.issues;
  if (parsed.success && mistakes.length === 0) return { file: parsed.data };
  const found = mistakes.map(({ path, message }) => {
    // Keys of YAML are texts.
    const keys = path.filter((part) => typeof part !== "symbol");
    return { at: yaml.positionOf(keys), text: keys.length === 0 ? message : `${pathText(keys)}: ${message}` };
  });
  return {
    problems: found
      .toSorted((a, b) => a.at.line - b.at.line || a.at.column - b.at.column)
      .map(({ at, text }) => `${at.line}:${at.column}: ${text}`),
  };
}

const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) => text + (typeof part === "number" ? `[${part}]` : `${text === "" ? "" : "."}${String(part)}`),
    "",
  );
