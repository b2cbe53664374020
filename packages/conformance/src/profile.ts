/** The file of a run that is made again and again: the registry, what is known of it, and what is expected to fail. */
import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { UsageError } from "./check.js";
import { isObject, type Json } from "./json.js";

/** A check that fails, why that is so. The run fails if it passes: then the exception is out of date. */
export interface Exception {
  readonly check: string;
  readonly reason: string;
}

export interface Profile {
  /** By the names of the options, without dashes before them: `url`, `registrar`, `fail-on`. */
  readonly options: Readonly<Record<string, Json>>;
  readonly exceptions: readonly Exception[];
}

/** The options that may stand in a profile, by their form; `url` is the argument. */
export const FORMS: Readonly<Record<string, "text" | "list" | "flag">> = {
  url: "text",
  registrar: "text",
  "at-root": "flag",
  instrument: "list",
  sender: "text",
  receiver: "text",
  holding: "list",
  offer: "text",
  allocation: "text",
  "allocation-instruction": "text",
  replica: "text",
  header: "list",
  "token-file": "text",
  negative: "flag",
  rate: "text",
  "fail-on": "text",
};

/** Throws UsageError for a file that cannot be read, and for what no profile has. */
export async function readProfile(path: string, ids: readonly string[]): Promise<Profile> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) throw new UsageError(`${path} cannot be read: it is the profile`);
  let profile: unknown;
  try {
    profile = parse(text);
  } catch (error) {
    throw new UsageError(`${path} is no YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isObject(profile)) throw new UsageError(`${path} has to be a map, with url and exceptions`);
  const { exceptions = [], ...options } = profile;
  for (const [name, value] of Object.entries(options)) {
    const form = FORMS[name];
    if (form === undefined)
      throw new UsageError(`${path}: ${name} is none of ${Object.keys(FORMS).join(", ")}, exceptions`);
    if (!hasForm(value, form)) throw new UsageError(`${path}: ${name} has to be a ${form}`);
  }
  if (!Array.isArray(exceptions)) throw new UsageError(`${path}: exceptions has to be a list`);
  const read = (exceptions as readonly Json[]).map((one): Exception => {
    const { check, reason } = isObject(one) ? one : {};
    if (typeof check !== "string" || !ids.includes(check))
      throw new UsageError(`${path}: the exception ${JSON.stringify(check ?? one)} names none of ${ids.join(", ")}`);
    if (typeof reason !== "string" || reason.trim() === "")
      throw new UsageError(`${path}: the exception of ${check} needs a reason`);
    return { check, reason };
  });
  return { options, exceptions: read };
}

const isText = (one: Json): boolean => typeof one === "string" || typeof one === "number";

function hasForm(value: Json, form: "text" | "list" | "flag"): boolean {
  if (form === "flag") return typeof value === "boolean";
  return form === "text" ? isText(value) : Array.isArray(value) && value.every(isText);
}
