/** What commands print, their exit codes, and the messages of failures. */
import type { Config } from "../config/config.js";
import { SettingError } from "../config/setting.js";
import { SnapshotError } from "../ingest/file-ingestor.js";
import type { CheckedInventory } from "../registry/check/scan.js";
import { describeWarning, isInformation } from "../registry/sdk/warnings.js";
import { DatabaseError } from "../state/postgres/errors.js";
import { StateTooLarge } from "../state/load-state.js";
import { errorMessage } from "../util/logger.js";
import { printable } from "../util/printable.js";

export function print(text: string): void {
  process.stdout.write(text);
}

/** The command failed: the service could not start or run, a check failed. A retry may help. */
export const EXIT_FAILURE = 1;
/** Arguments, environment, or a file that they name are wrong. A retry does not help. */
export const EXIT_CONFIG = 2;

export interface Failure {
  readonly message: string;
  readonly exitCode: number;
}

const LISTEN_CODES = new Set(["EADDRINUSE", "EACCES", "EADDRNOTAVAIL", "ENOTFOUND"]);

/** Prints the message to stderr and sets the exit code. The process ends once its work is done. */
export function fail({ message, exitCode }: Failure): void {
  process.stderr.write(`offledger: ${printable(message)}\n`);
  process.exitCode = exitCode;
}

/** Maps an error of `startApp`; names the setting that caused it, if any. */
export function startFailure(config: Config, error: unknown): Failure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const message = errorMessage(error);
  if (LISTEN_CODES.has(code)) {
    return configFailure(
      `cannot listen on ${config.host}:${config.port}: ${message}; set OFFLEDGER_HOST and OFFLEDGER_PORT to a free address`,
    );
  }
  if (error instanceof SnapshotError) return snapshotFailure(`\n${message}`);
  if (error instanceof SettingError) return configFailure(message);
  if (error instanceof StateTooLarge) return configFailure(error.reason);
  if (error instanceof DatabaseError) return configFailure(`OFFLEDGER_DATABASE_URL: ${message}`);
  return { message: `the service cannot start: ${message}`, exitCode: EXIT_FAILURE };
}

export const configFailure = (message: string): Failure => ({ message, exitCode: EXIT_CONFIG });

/** The snapshot file cannot be read. `reason` follows a colon. */
export const snapshotFailure = (reason: string): Failure =>
  configFailure(`OFFLEDGER_SNAPSHOT must be the path of a readable file of active contracts:${reason}`);

/** Maximum number of warnings printed per kind. */
const MAX_PRINTED = 10;

/** The registrars with their instruments, the number of contracts of each template, and the warnings. */
export function formatInventory(inventory: CheckedInventory): string[] {
  const { registrars, counts, unchecked, warnings, warningCounts } = inventory;
  const sentences = warnings.filter((warning) => typeof warning === "string");
  const others = warnings.filter((warning) => typeof warning !== "string");
  const kinds = [...new Set(others.map(({ kind }) => kind))];
  return [
    ...(registrars.length === 0 ? ["no registrar is served: there is no factory"] : []),
    ...registrars.flatMap(({ party, instruments }) =>
      [`registrar ${party}`].concat(instruments.map(({ id, scheme }) => `  instrument ${id} (${scheme})`)),
    ),
    ...counts.map(({ qualifiedName, count }) => `${String(count).padStart(8)} ${qualifiedName}`),
    ...kinds.flatMap((kind) => {
      const ofKind = others.filter((warning) => warning.kind === kind);
      const title = ofKind.every(isInformation) ? "information" : "warning";
      return formatGroup(`${title}: ${kind}`, ofKind.map(describeWarning), warningCounts[kind] ?? ofKind.length);
    }),
    ...formatGroup("warning: other", sentences, sentences.length),
    ...(unchecked === 0 ? [] : ["", `${unchecked} more contracts are not checked here: see offledger check`]),
  ];
}

/** There may be more than sentences. */
function formatGroup(title: string, sentences: readonly string[], count: number): string[] {
  if (count === 0) return [];
  // Sorted, because not every store lists contracts in the same order.
  const printed = sentences
    .toSorted()
    .slice(0, MAX_PRINTED)
    .map((sentence) => `  ${sentence}`);
  const more = count > MAX_PRINTED ? [`  … and ${count - MAX_PRINTED} more`] : [];
  return ["", `${title} (${count})`, ...printed, ...more];
}

/** A curl command for the instruments of a registrar, from the service at a URL without a trailing slash. */
export const instrumentsCommand = (url: string, registrar: string): string =>
  `curl '${registryUrl(url, registrar)}/metadata/v1/instruments'`;

/** The base URL of the operations of a registrar, for a word in single quotes. */
export function registryUrl(url: string, registrar: string): string {
  // A party id may contain any character: encode what a URL and single quotes of a shell do not allow.
  const party = encodeURI(registrar).replaceAll("'", "%27").replaceAll(/[?#]/g, encodeURIComponent);
  return `${url}/api/token-standard/v0/registrars/${party}/registry`;
}
