/** The services of deploy/localnet as Compose sees them: files put together, variables put in. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export const FOLDER = "deploy/localnet";
export const fileNames = ["splice.yaml", "quickstart.yaml", "quickstart-oauth2.yaml", "postgres.yaml"] as const;
type FileName = (typeof fileNames)[number];

export type Variables = Readonly<Record<string, string>>;

export interface Service {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Variables;
  readonly env_file?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly profiles?: readonly string[];
}

const textOf = (name: FileName): string => readFileSync(join(FOLDER, name), "utf8");

/** Of files that are given to Compose in this order. */
export function servicesOf(...names: readonly FileName[]): Readonly<Record<string, Service>> {
  const services: Record<string, Service> = {};
  for (const name of names) {
    const file = parse(textOf(name), { merge: true }) as { readonly services: Readonly<Record<string, Service>> };
    for (const [service, own] of Object.entries(file.services)) {
      const base = services[service] ?? {};
      services[service] = {
        ...base,
        ...own,
        environment: { ...base.environment, ...own.environment },
        env_file: [...(base.env_file ?? []), ...(own.env_file ?? [])],
        depends_on: { ...base.depends_on, ...own.depends_on },
      };
    }
  }
  return services;
}

/** The names of the variables of a file. */
export const variablesIn = (name: FileName): readonly string[] =>
  Array.from(
    textOf(name)
      .replaceAll("$$", "")
      .matchAll(/\$\{(\w+)/g),
    ([, variable = ""]) => variable,
  );

/** Puts variables in: `${NAME}`, `${NAME:-default}`, `${NAME:?message}`, `${NAME:+replacement}`, and `$$`. */
export function interpolated(text: string, given: Variables): string {
  const innermost = /\$\{(\w+)(?::([-?+])([^${}]*))?\}/;
  let result = text.replaceAll("$$", "\0");
  for (let found = innermost.exec(result); found !== null; found = innermost.exec(result)) {
    const [whole, name = "", operator, rest = ""] = found;
    const value = given[name] ?? "";
    if (operator === "?" && value === "") throw new Error(`${name} ${rest}`);
    const put = operator === "+" ? (value === "" ? "" : rest) : value === "" && operator === "-" ? rest : value;
    result = result.replace(whole, () => put);
  }
  return result.replaceAll("\0", "$");
}

/** The environment of a container, without what its env_files have. */
export const environmentOf = ({ environment = {} }: Service, given: Variables): Variables =>
  Object.fromEntries(Object.entries(environment).map(([name, text]) => [name, interpolated(text, given)]));
