/** Where the contracts come from: a file or a participant, as the configuration says. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import type { Config } from "./config/config.js";
import { Decoder } from "./ledger/decode.js";
import { SnapshotFile } from "./ledger/file/snapshot-file.js";
import type { Log } from "./ledger/log.js";
import { ParticipantClient } from "./ledger/participant/client.js";
import { LedgerError } from "./ledger/participant/errors.js";
import { ParticipantHistory } from "./ledger/participant/history.js";
import { Mirror } from "./ledger/participant/mirror.js";
import { Progress } from "./ledger/participant/progress.js";
import { clientCredentials, noToken, tokenFile, type TokenSource } from "./ledger/participant/tokens.js";
import type { Freshness } from "./registry/engine.js";
import { unavailable } from "./registry/errors.js";
import type { History } from "./registry/history.js";
import type { Kind, StoreWriter } from "./store/store.js";

/** How often a snapshot file is looked at, in milliseconds. */
const POLL_MS = 1_000;

/** Feeds a store, and says how recent it is. */
export interface Source extends Freshness {
  /** A path or a URL, for texts. */
  readonly name: string;
  /** Looks up what has been; undefined for a file, which tells only what is. */
  readonly history: History | undefined;
  /**
   * Begins to feed the store. A file is in the store when this ends, and throws
   * SnapshotError where it cannot be served; a participant's contracts come when
   * they come.
   */
  start(log: Log): Promise<void>;
  /** Why the service is not ready; undefined where it is. */
  unreadiness(): string | undefined;
  /** Ends, and waits for what is under way. */
  close(): Promise<void>;
}

/** Throws the system's error where a file that the configuration names cannot be read. */
export async function sourceOf(
  config: Config,
  kinds: readonly Kind[],
  writer: StoreWriter,
  now: () => number,
): Promise<Source> {
  const { ledgerUrl, ledgerParties = [], ledgerCaFile } = config;
  const decoder = new Decoder(kinds, config.totalSupply);
  if (ledgerUrl === undefined) return fileSource(snapshotPath(config), decoder, writer);
  const ca = ledgerCaFile === undefined ? undefined : await readFile(ledgerCaFile, "utf8");
  const end = new AbortController();
  const { signal } = end;
  const progress = new Progress(
    {
      unreadyAfter: config.unreadySeconds * 1000,
      staleAfter: config.staleSeconds * 1000,
      readWait: config.readWaitMs,
    },
    now,
  );
  const endpoint = { url: ledgerUrl, ca, token: tokensOf(config, ca, signal, now), signal };
  const ledger = new ParticipantClient(endpoint, ledgerParties, kinds);
  const pause = (milliseconds: number) => delay(milliseconds, undefined, { signal }).catch(() => undefined);
  const history = new ParticipantHistory(endpoint, ledgerParties, { longest: config.readWaitMs, now: Date.now, pause });
  let running: Promise<void> = Promise.resolve();
  let logged: Log | undefined;
  return {
    name: ledgerUrl.href,
    history: {
      update: (which, ofKinds) => orUnavailable(history.update(which, ofKinds), logged),
      creation: (contractId, ofKinds) => orUnavailable(history.creation(contractId, ofKinds), logged),
      again: (question) => history.again(question),
    },
    async start(log) {
      logged = log;
      running = new Mirror({ ledger, decoder, writer, progress, log, now, random: Math.random, pause, signal }).run();
    },
    refusal: () => progress.refusal(),
    unreadiness: () => progress.unreadiness(),
    catchUp: (offset) => progress.catchUp(offset, () => ledger.ledgerEnd()),
    async close() {
      end.abort();
      await running;
    },
  };
}

/** A participant that fails is no fault of the request's; what it says is for the operator alone. */
async function orUnavailable<T>(looking: Promise<T>, log: Log | undefined): Promise<T> {
  try {
    return await looking;
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    log?.warn(
      { trouble: error.trouble, reason: error.message },
      "a transfer cannot be proven: the ledger does not answer",
    );
    throw unavailable("the ledger cannot be asked for its updates now");
  }
}

/** The file that is served: the operator's, or the demo of the registry that comes with the package. */
export function snapshotPath({ snapshot, registry }: Config): string {
  return (
    snapshot ??
    createRequire(import.meta.url).resolve(`#demo/${registry === "minimal" ? "minimal" : "registry"}.ndjson`)
  );
}

function fileSource(path: string, decoder: Decoder, writer: StoreWriter): Source {
  const file = new SnapshotFile(path, decoder, writer);
  return {
    name: path,
    history: undefined,
    async start(log) {
      await file.start(POLL_MS, {
        swapped: ({ contracts }) => log.info({ path, contracts: contracts.length }, "serving the changed snapshot"),
        rejected: (reason) =>
          log.error({ path, reason }, "the changed snapshot cannot be served; what was served before goes on"),
      });
    },
    // A file is what there is: nothing is ahead of it.
    refusal: () => undefined,
    unreadiness: () => undefined,
    catchUp: () => Promise.resolve(false),
    close: () => file.close(),
  };
}

function tokensOf(
  { ledgerTokenFile, oidcIssuer, oidcClientId, oidcClientSecretFile, oidcAudience }: Config,
  ca: string | undefined,
  signal: AbortSignal,
  now: () => number,
): TokenSource {
  if (ledgerTokenFile !== undefined) return tokenFile(ledgerTokenFile);
  if (oidcIssuer === undefined || oidcClientId === undefined || oidcClientSecretFile === undefined) return noToken;
  const credentials = {
    issuer: oidcIssuer,
    clientId: oidcClientId,
    secretFile: oidcClientSecretFile,
    audience: oidcAudience,
  };
  return clientCredentials(credentials, ca, signal, now);
}
