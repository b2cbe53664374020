/** The services of deploy/localnet as Compose sees them: files put together, variables put in. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export const FOLDER = "deploy/localnet";
export const fileNames = ["splice.yaml", "quickstart.yaml", "postgres.yaml"] as const;
type FileName = (typeof fileNames)[number];

export type Variables = Readonly<Record<string, string>>;

export interface Service {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Variables;
  readonly env_file?: readonly (string | { readonly path: string })[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly profiles?: readonly string[];
  readonly extends?: { readonly file: FileName; readonly service: string };
}

const textOf = (name: FileName): string => readFileSync(join(FOLDER, name), "utf8");

const parsed = (name: FileName) =>
  (parse(textOf(name), { merge: true }) as { readonly services: Readonly<Record<string, Service>> }).services;

/** With what they extend. */
export const servicesOf = (name: FileName): Readonly<Record<string, Service>> =>
  Object.fromEntries(
    Object.entries(parsed(name)).map(([service, own]): [string, Service] => {
      if (own.extends === undefined) return [service, own];
      const base = parsed(own.extends.file)[own.extends.service] ?? {};
      return [
        service,
        {
          ...base,
          ...own,
          environment: { ...base.environment, ...own.environment },
          env_file: [...(base.env_file ?? []), ...(own.env_file ?? [])],
          depends_on: { ...base.depends_on, ...own.depends_on },
        },
      ];
    }),
  );

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

/** What a container has: its env_files, those beside the file only, then its environment. */
export function environmentOf(service: Service, given: Variables): Variables {
  const files = (service.env_file ?? []).flatMap((file) => {
    const path = interpolated(typeof file === "string" ? file : file.path, given);
    return path.startsWith("env/") ? [readFileSync(join(FOLDER, path), "utf8")] : [];
  });
  const lines = files.flatMap((text) => text.split("\n")).filter((line) => /^\w+=/.test(line));
  const ofFiles = lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);
  const own = Object.entries(service.environment ?? {}).map(
    ([name, text]) => [name, interpolated(text, given)] as const,
  );
  return Object.fromEntries([...ofFiles, ...own]);
}
