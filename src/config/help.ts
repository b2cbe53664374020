import { type Setting, settings } from "./settings.js";

/** The text of `offledger help`. */
export function helpText(): string {
  const lines = Object.values<Setting<unknown>>(settings).map((setting) => {
    const { flag, variable, description, accepts } = setting;
    const fallback = defaultOf(setting);
    return `  --${flag} VALUE\n      ${description}: ${accepts}${fallback === "" ? "" : ` (default ${fallback})`}. Variable: ${variable}.`;
  });
  return [
    "offledger: the off-ledger service of a token registry on the Canton Network",
    "",
    "  offledger serve   serves a registry (what is done without a command)",
    "  offledger mirror  feeds a database, or stands by where another process does",
    "  offledger api     answers from a database that another process feeds",
    "  offledger migrate brings the schema of a database up to date",
    "  offledger check   says what a file would serve, and what in it is wrong",
    "  offledger health  says whether a service with these settings lives on this machine",
    "  offledger help    prints this",
    "  offledger version prints the version",
    "",
    ...lines,
    "",
  ].join("\n");
}

/** The default of a setting in words; empty where there is none. */
export function defaultOf({ default: value, defaultLabel }: Setting<unknown>): string {
  const text = ["string", "number", "boolean"].includes(typeof value) ? String(value) : "";
  return defaultLabel ?? text;
}
