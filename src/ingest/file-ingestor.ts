import { unwatchFile, watchFile } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { errorMessage } from "../util/logger.js";
import { alreadyCaughtUp } from "../domain/ledger.js";
import type { Decoder } from "../ledger/decode.js";
import { formatProblems, parseSnapshot, type Snapshot } from "../ledger/file/snapshot.js";
import type { StoreWriter } from "../store/port.js";
import type { Ingestor } from "./source.js";

const POLL_MS = 1_000;

export function fileIngestor(path: string, decoder: Decoder): Ingestor {
  return {
    name: path,
    origin: `file ${path}`,
    reconnects: () => undefined,
    start(writer, log, signal) {
      const file = new SnapshotFile(path, decoder, writer);
      let isLoaded = false;
      const loaded = file.start(POLL_MS, {
        onReplaced: ({ contracts }) => log.info({ path, contracts: contracts.length }, "changed snapshot file loaded"),
        onRejected: (reason) =>
          log.error({ path, reason }, "changed snapshot file rejected; the previous contracts are still served"),
      });
      const ended = new Promise<void>((resolve) => {
        const close = () => void file.close().then(resolve);
        if (signal.aborted) close();
        else signal.addEventListener("abort", close, { once: true });
      });
      return {
        started: loaded.then(() => {
          isLoaded = true;
        }),
        // A file does not get stale: nothing is ahead of it.
        staleReason: () => undefined,
        notReadyReason: () => undefined,
        catchUp: alreadyCaughtUp,
        offset: () => writer.checkpoint?.offset,
        age: () => (isLoaded ? 0 : undefined),
        otherHistory: () => undefined,
        ended,
      };
    },
  };
}

export interface SnapshotFileEvents {
  onReplaced(snapshot: Snapshot): void;
  /** A changed file cannot be loaded. The store keeps the previous contracts. */
  onRejected(reason: string): void;
}

/** A file cannot be loaded. The message has the problems with their lines. */
export class SnapshotError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SnapshotError";
  }
}

/** Loads a file into the store, again whenever it changes. Polling also detects a rename and a moved symbolic link. */
export class SnapshotFile {
  readonly #path: string;
  readonly #decoder: Decoder;
  readonly #writer: Pick<StoreWriter, "replace">;
  #loading: Promise<void> = Promise.resolve();
  #listener: (() => void) | undefined;

  constructor(path: string, decoder: Decoder, writer: Pick<StoreWriter, "replace">) {
    this.#path = path;
    this.#decoder = decoder;
    this.#writer = writer;
  }

  /** Loads the file into the store. Throws SnapshotError, and leaves the store unchanged, if it cannot. */
  async load(): Promise<Snapshot> {
    const { content, modified } = await this.#read();
    const snapshot = parseSnapshot(content, this.#decoder);
    if (snapshot.problems.length > 0) throw new SnapshotError(formatProblems(this.#path, snapshot.problems));
    await this.#writer.replace(snapshot.contracts, snapshot.offset, modified);
    return snapshot;
  }

  /** Loads the file and watches it until `close`. Throws SnapshotError, and does not watch, if the first load fails. */
  async start(intervalMs: number, events: SnapshotFileEvents): Promise<Snapshot> {
    // Watch from before the first load: a change during it must not be missed, and must be loaded after it.
    const first = this.load();
    this.#loading = first.then(
      () => undefined,
      () => undefined,
    );
    this.#watch(intervalMs, events);
    try {
      return await first;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Stops watching. Resolves when a load in progress has ended. */
  async close(): Promise<void> {
    if (this.#listener !== undefined) unwatchFile(this.#path, this.#listener);
    await this.#loading;
  }

  #watch(intervalMs: number, events: SnapshotFileEvents): void {
    let isPending = false;
    this.#listener = () => {
      // One pending load covers every change that happens before it starts.
      if (isPending) return;
      isPending = true;
      this.#loading = this.#loading.then(async () => {
        isPending = false;
        try {
          events.onReplaced(await this.load());
        } catch (error) {
          events.onRejected(errorMessage(error));
        }
      });
    };
    watchFile(this.#path, { interval: intervalMs }, this.#listener);
  }

  /** `modified` is in microseconds since 1970, and not later than the content. */
  async #read(): Promise<{ readonly content: string; readonly modified: number }> {
    try {
      const { mtimeMs } = await stat(this.#path);
      return { content: await readFile(this.#path, "utf8"), modified: Math.floor(mtimeMs) * 1000 };
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
      throw new SnapshotError(`${this.#path} cannot be read (${code})`);
    }
  }
}
