import type { Config } from "../config/config.js";
import { SettingError } from "../config/setting.js";
import type { LedgerError } from "../ledger/participant/errors.js";
import { SnapshotError } from "../ingest/file/snapshot-file.js";
import { DatabaseError } from "../store/postgres/errors.js";

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
  process.stderr.write(`offledger: ${message}\n`);
  process.exitCode = exitCode;
}

/** Maps an error of `startApp`; names the setting that caused it, if any. */
export function startFailure(config: Config, error: unknown): Failure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const message = messageOf(error);
  if (LISTEN_CODES.has(code)) {
    return configFailure(
      `cannot listen on ${config.host}:${config.port}: ${message}; set OFFLEDGER_HOST and OFFLEDGER_PORT to a free address`,
    );
  }
  if (error instanceof SnapshotError) return snapshotFailure(`\n${message}`);
  if (error instanceof SettingError) return configFailure(message);
  if (error instanceof DatabaseError) return configFailure(`OFFLEDGER_DATABASE_URL: ${message}`);
  return { message: `the service cannot start: ${message}`, exitCode: EXIT_FAILURE };
}

/** Maps an error of `checkSnapshot` or `checkParticipant` other than LedgerError. */
export function checkFailure(error: unknown): Failure {
  const message = messageOf(error);
  return error instanceof SettingError
    ? configFailure(message)
    : { message: `the check failed: ${message}`, exitCode: EXIT_FAILURE };
}

/** The participant cannot be read. Wrong credentials, rights and requests do not change by a retry. */
export function participantFailure({ origin }: URL, { kind, message }: LedgerError): Failure {
  const exitCode = kind === "denied" || kind === "refused" || kind === "incomplete" ? EXIT_CONFIG : EXIT_FAILURE;
  return { message: `OFFLEDGER_LEDGER_URL: the participant at ${origin} cannot be read: ${message}`, exitCode };
}

export const configFailure = (message: string): Failure => ({ message, exitCode: EXIT_CONFIG });

/** The snapshot file cannot be read. `reason` follows a colon. */
export const snapshotFailure = (reason: string): Failure =>
  configFailure(`OFFLEDGER_SNAPSHOT must be the path of a readable file of active contracts:${reason}`);

/** The message of an error. A connection to a name with several addresses fails with an error for each, and no message. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
