/** Reads a file of a form, such as a registry file. Every mistake is found at once, each with its line and column. */
import type { z } from "zod";
import { parseYaml } from "../../util/yaml.js";
import { mistakesOf, registryFile, type RegistryFile } from "./definition.js";

export type Loaded<T> =
  | { readonly file: T; readonly problems?: undefined }
  /** Each as `line:column: what is wrong`, in the order of the file. */
  | { readonly file?: undefined; readonly problems: readonly string[] };

interface Mistake {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

export const parseRegistryFile = (content: Uint8Array | string): Loaded<RegistryFile> =>
  loadForm(content, registryFile, mistakesOf);

/** `more` finds the mistakes that the form does not show. */
export function loadForm<T>(
  content: Uint8Array | string,
  form: z.ZodType<T>,
  more: (file: T) => readonly Mistake[],
): Loaded<T> {
  const yaml = parseYaml(content);
  if (yaml.errors.length > 0)
    return { problems: yaml.errors.map(({ line, column, message }) => `${line}:${column}: ${message}`) };
  const parsed = form.safeParse(yaml.value);
  const mistakes: readonly Mistake[] = parsed.success ? more(parsed.data) : parsed.error.issues;
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
