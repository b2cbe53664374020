import { type Setting } from "../config/setting.js";
import { settings } from "../config/settings.js";

/** The text of `offledger help`. */
export function helpText(): string {
  return [
    "offledger: the off-ledger service of a token registry on the Canton Network",
    "",
    "Usage: offledger [COMMAND] [FLAGS]",
    "",
    "  offledger serve    serve a registry (default)",
    "  offledger mirror   copy contracts into a database, or stand by while another process does",
    "  offledger api      serve a registry from a database that a mirror fills",
    "  offledger migrate  migrate the schema of a database",
    "  offledger check    say what a file or a participant would serve, and what will fail",
    "  offledger contexts print the choice context of every operation in force",
    "  offledger registry test FILE: run the tests beside a registry file, without a ledger",
    "  offledger explain  say how a running service answers a request: explain REQUEST-ID, or - for JSON on stdin",
    "  offledger health   check the health of a service with these settings on this machine",
    "  offledger help     print this help",
    "  offledger version  print the version",
    "  offledger conformance URL: check any registry of the token standard; conformance --help says how",
    "",
    "Flags, and the environment variables that they override; -h and --help print this help:",
    "",
    ...Object.values<Setting<unknown>>(settings).map(formatSetting),
    "",
  ].join("\n");
}

function formatSetting(setting: Setting<unknown>): string {
  const { flag, variable, description, accepts } = setting;
  const defaultText = formatDefault(setting);
  const suffix = defaultText === "" ? "" : ` (default ${defaultText})`;
  return `  --${flag} VALUE\n      ${description}: ${accepts}${suffix}. Variable: ${variable}.`;
}

/** The default of a setting; empty when it has none. */
export function formatDefault({ default: value, defaultLabel }: Setting<unknown>): string {
  const text = ["string", "number", "boolean"].includes(typeof value) ? String(value) : "";
  return defaultLabel ?? text;
}
