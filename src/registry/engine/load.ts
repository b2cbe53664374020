/** Reads a file of a form, such as a registry file. Every mistake is found at once, each with its line and column. */
import type { z } from "zod";
import { check, type Checked, type Mistake, parseOperatorFile } from "../../util/operator-file.js";
import { mistakesOf, registryFile, type RegistryFile } from "./definition.js";

export type Loaded<T> =
  | { readonly file: T; readonly problems?: undefined }
  /** Each as `line:column: path: what is wrong`, in the order of the file. */
  | { readonly file?: undefined; readonly problems: readonly string[] };

export const checkRegistryFile = (value: unknown): Checked<RegistryFile> => check(registryFile, value, mistakesOf);

export const parseRegistryFile = (content: Uint8Array | string): Loaded<RegistryFile> =>
  loadForm(content, registryFile, mistakesOf);

/** `more` finds the mistakes that the form does not show. */
export function loadForm<T>(
  content: Uint8Array | string,
  form: z.ZodType<T>,
  more: (file: T) => readonly Mistake[],
): Loaded<T> {
  const { value, problems } = parseOperatorFile(content, (file) => check(form, file, more));
  return problems === undefined ? { file: value } : { problems };
}
