import { type Config, readConfig } from "../../src/config/config.js";

/** The configuration; throws if it has errors. */
export function readValid(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Config {
  const result = readConfig(argv, env);
  if (!result.ok) throw new Error(result.errors.join("\n"));
  return result.config;
}

/** The errors of a configuration; throws if it has none. */
export function readErrors(argv: readonly string[], env: Readonly<Record<string, string>> = {}): readonly string[] {
  const result = readConfig(argv, env);
  if (result.ok) throw new Error("the configuration has no errors");
  return result.errors;
}
