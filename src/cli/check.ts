/** `offledger check`: what a file or a participant would serve, and what will fail. */
import { type FileHandle, open } from "node:fs/promises";
import { keptContracts, participantOptions, snapshotPath } from "../app/options.js";
import { loadRegistry } from "../app/registry.js";
import type { Config } from "../config/config.js";
import { LIMITS } from "../config/limits.js";
import { readInstruments } from "../config/setting-files.js";
import { SettingError } from "../config/setting.js";
import { isStored } from "../domain/contract.js";
import { mirroredOf } from "../domain/ledger.js";
import { Decoder } from "../ledger/decode.js";
import { formatProblems, MAX_PROBLEMS, parseSnapshot, type Snapshot as FileSnapshot } from "../ledger/file/snapshot.js";
import type { Chunks } from "../ledger/file/splitter.js";
import { ParticipantClient } from "../ledger/participant/client.js";
import { LedgerError, type LedgerErrorKind } from "../ledger/participant/errors.js";
import type { Timeouts } from "../ledger/participant/http.js";
import { type Snapshot, takeSnapshot } from "../ledger/participant/elements.js";
import { partySource } from "../ledger/participant/parties.js";
import { createTokenSource } from "../ledger/participant/tokens.js";
import { type CheckedInventory, scanInventory, withPartyWarnings } from "../registry/check/scan.js";
import type { Registry } from "../registry/sdk/registry.js";
import { isInformation } from "../registry/sdk/warnings.js";
import { MemoryStore } from "../state/memory-store.js";
import { errorMessage } from "../util/logger.js";
import { displayUrl } from "../util/urls.js";
import {
  configFailure,
  EXIT_CONFIG,
  EXIT_FAILURE,
  fail,
  type Failure,
  formatInventory,
  print,
  snapshotFailure,
} from "./output.js";

/** Prints what a file or a participant would serve, or its problems. Fails for problems and for warnings. */
export function check(config: Config): Promise<void> {
  return config.ledgerUrl === undefined ? checkFile(config) : checkLedger(config, config.ledgerUrl);
}

/** Without a registrar every request is answered 404. */
const needsAction = ({ registrars, warnings }: CheckedInventory): boolean =>
  registrars.length === 0 || warnings.some((warning) => typeof warning === "string" || !isInformation(warning));

async function checkFile(config: Config): Promise<void> {
  const path = snapshotPath(config);
  let file: FileHandle;
  try {
    file = await open(path);
    if ((await file.stat()).isDirectory()) {
      await file.close();
      return fail(snapshotFailure(` ${path} is a folder`));
    }
  } catch (error) {
    return fail(snapshotFailure(` ${errorMessage(error)}`));
  }
  try {
    // With an encoding, chunks are text. The stream closes the file.
    const chunks = file.createReadStream({ encoding: "utf8" }) as AsyncIterable<string>;
    const { snapshot, inventory } = await checkSnapshot(config, chunks, Date.now());
    print(formatSnapshotCheck(path, snapshot, inventory));
    if (inventory === undefined || needsAction(inventory)) process.exitCode = EXIT_FAILURE;
  } catch (error) {
    fail(checkFailure(error));
  }
}

async function checkLedger(config: Config, url: URL): Promise<void> {
  try {
    const result = await checkParticipant(config, Date.now());
    print(formatParticipantCheck(result));
    const { snapshot, inventory } = result;
    if (needsAction(inventory) || snapshot.unreadable.length > 0) process.exitCode = EXIT_FAILURE;
  } catch (error) {
    fail(error instanceof LedgerError ? participantFailure(url, error) : checkFailure(error));
  }
}

/** Maps an error of `checkSnapshot` or `checkParticipant` other than LedgerError. */
function checkFailure(error: unknown): Failure {
  const message = errorMessage(error);
  return error instanceof SettingError
    ? configFailure(message)
    : { message: `the check failed: ${message}`, exitCode: EXIT_FAILURE };
}

const CONFIGURED: ReadonlySet<LedgerErrorKind> = new Set(["denied", "refused", "incomplete", "no-parties"]);

/** The participant cannot be read. Wrong credentials, rights and requests do not change by a retry. */
export function participantFailure(url: URL, { kind, message }: LedgerError): Failure {
  const exitCode = CONFIGURED.has(kind) ? EXIT_CONFIG : EXIT_FAILURE;
  return {
    message: `OFFLEDGER_LEDGER_URL: the participant at ${displayUrl(url)} cannot be read: ${message}`,
    exitCode,
  };
}

/**
 * Checks the content of a snapshot file: what it would serve, undefined if it has problems. `now` is in milliseconds since 1970. Throws SettingError for a wrong registry
 * module, contexts file or instruments file.
 */
export async function checkSnapshot(config: Config, content: Chunks, now: number) {
  const { registry, decoder } = await loadFiles(config);
  const snapshot = await parseSnapshot(content, decoder);
  if (snapshot.problems.length > 0) return { snapshot, inventory: undefined };
  return { snapshot, inventory: await inventoryOf(snapshot, registry, now) };
}

interface ParticipantCheck {
  /** The URL of the participant. */
  readonly name: string;
  readonly snapshot: Snapshot;
  /** What the snapshot would serve, without its unreadable contracts. */
  readonly inventory: CheckedInventory;
}

/** In milliseconds. A participant sends a million contracts in less. */
interface CheckLimits {
  readonly total: number;
  readonly timeouts?: Partial<Timeouts>;
}

const DEFAULT_LIMITS: CheckLimits = { total: 600_000 };

/**
 * Reads the active contracts of the participant once, as a mirror does, and checks them. `now` is in milliseconds since
 * 1970. Throws LedgerError if the participant cannot be read in time, and SettingError for a wrong file.
 */
export async function checkParticipant(
  config: Config,
  now: number,
  limits: CheckLimits = DEFAULT_LIMITS,
): Promise<ParticipantCheck> {
  const { registry, decoder } = await loadFiles(config);
  const { url, parties, ca, credentials } = await readOptions(config);
  const end = new AbortController();
  const { signal } = end;
  const timer = setTimeout(() => end.abort(), limits.total);
  try {
    const token = createTokenSource(credentials, ca, signal, () => performance.now());
    const endpoint = { url, ca, signal, timeouts: limits.timeouts ?? {}, token };
    const source = partySource(parties, {
      endpoint,
      lacksRegistrars: decoder.lacksRegistrars,
      clock: () => performance.now(),
    });
    const readAs = await source.read();
    decoder.hasOwnWitnesses = readAs !== "any";
    const ledger = new ParticipantClient(endpoint, source, mirroredOf(registry.templates, keptContracts(config)));
    ledger.readAs(readAs);
    const snapshot = await takeSnapshot(ledger, await ledger.ledgerEnd(), decoder, () => signal.aborted);
    if (signal.aborted) throw tooSlow(limits);
    const inventory = await inventoryOf(snapshot, registry, now);
    return { name: displayUrl(url), snapshot, inventory: withPartyWarnings(inventory, readAs) };
  } catch (error) {
    throw signal.aborted ? tooSlow(limits) : error;
  } finally {
    clearTimeout(timer);
    end.abort();
  }
}

/** The registry, and how its contracts are read. The instruments file is checked alone. */
async function loadFiles(config: Config) {
  const registry = await loadRegistry(config);
  await readInstruments(config.instruments);
  return {
    registry,
    decoder: new Decoder(registry.templates, keptContracts(config)),
  };
}

async function inventoryOf(
  { contracts, offset }: Pick<Snapshot, "contracts" | "offset">,
  registry: Registry,
  now: number,
): Promise<CheckedInventory> {
  const store = new MemoryStore();
  await store.replace(contracts, offset);
  return scanInventory(store, registry, { now: () => now, credentialDays: LIMITS.credentialDays });
}

const tooSlow = ({ total }: CheckLimits) =>
  new LedgerError("lost", `it has not sent all active contracts within ${total / 1_000} s`);

async function readOptions(config: Config) {
  let options;
  try {
    options = await participantOptions(config);
  } catch (error) {
    throw new SettingError("OFFLEDGER_LEDGER_CA_FILE", "the path of a readable PEM file", errorMessage(error));
  }
  if (options === undefined) throw new Error("OFFLEDGER_LEDGER_URL is not set");
  return options;
}

/** The result of `offledger check` for a file. */
export function formatSnapshotCheck(
  path: string,
  snapshot: FileSnapshot,
  inventory: CheckedInventory | undefined,
): string {
  const { ignored, problems } = snapshot;
  if (inventory !== undefined)
    return formatServed(path, snapshot, `, ${ignored} unused elements skipped`, [], inventory);
  const more = problems.length < MAX_PROBLEMS ? [] : [`(only the first ${MAX_PROBLEMS} problems are listed)`];
  return [`${path} cannot be served:`, formatProblems(path, problems), ...more, ""].join("\n");
}

/** The result of `offledger check` for a participant. */
function formatParticipantCheck({ name, snapshot, inventory }: ParticipantCheck): string {
  const { offset, unreadable } = snapshot;
  const reasons = unreadable
    .slice(0, MAX_PROBLEMS)
    .map(({ contractId = "?", templateId = "?", reason }) => `  ${contractId} of ${templateId}: ${reason}`);
  const more = unreadable.length > MAX_PROBLEMS ? [`  … and ${unreadable.length - MAX_PROBLEMS} more`] : [];
  const problems =
    unreadable.length === 0
      ? []
      : [`${unreadable.length} contracts cannot be read, and are left out:`, ...reasons, ...more];
  return formatServed(name, snapshot, ` at offset ${offset}`, problems, inventory);
}

function formatServed(
  name: string,
  { contracts, foreign = 0 }: Pick<FileSnapshot, "contracts" | "foreign">,
  how: string,
  problems: readonly string[],
  inventory: CheckedInventory,
): string {
  const stored = contracts.filter(isStored).length;
  const counted = contracts.length - stored;
  return [
    `${name} can be served: ${stored} contracts${how}`,
    ...(counted === 0 ? [] : [`${counted} holdings are counted, not stored`]),
    ...(foreign === 0
      ? []
      : [`${foreign} contracts are signed by no registrar that is read as or configured, and are not served`]),
    ...problems,
    "",
    ...formatInventory(inventory),
    "",
  ].join("\n");
}
