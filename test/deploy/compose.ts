/** Reads the parts of the compose files that the tests check. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";

export interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly pids_limit?: number;
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly deploy: { readonly replicas?: number; readonly resources: { readonly limits: { readonly memory: string } } };
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes: Readonly<Record<string, object>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

export const composeFile = (name: string): unknown => parse(readFileSync(`deploy/${name}`, "utf8"), { merge: true });

/** Expands `${NAME:-default}` and `${NAME:?message}`. Throws if a required variable is missing. */
export function interpolated(text: string, env: Readonly<Record<string, string>> = {}): string {
  return text.replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, operator: string, rest: string) => {
    const value = env[name];
    if (value !== undefined && value !== "") return value;
    if (operator === "?") throw new Error(`${name} ${rest}`);
    return rest;
  });
}

/** The environment of a service; later files override earlier ones. */
export function environmentOf(
  parts: readonly (Partial<Service> | undefined)[],
  env?: Readonly<Record<string, string>>,
): Record<string, string> {
  const entries = parts.flatMap((part) => Object.entries(part?.environment ?? {}));
  return Object.fromEntries(entries.map(([name, value]) => [name, interpolated(value, env)]));
}

/** `512m`, `2g` in megabytes; `20s` in seconds. */
export function amount(text: string | undefined): number {
  const [, digits, unit = ""] = /^(\d+)([mgs])$/.exec(text ?? "") ?? [];
  if (digits === undefined) throw new Error(`unsupported amount "${text}"`);
  return Number(digits) * (unit === "g" ? 1024 : 1);
}
