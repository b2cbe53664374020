import { unwatchFile, watchFile } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import type { StoreWriter } from "../../store/port.js";
import type { Decoder } from "../../ledger/decode.js";
import { formatProblems, parseSnapshot, type Snapshot } from "../../ledger/file/snapshot.js";

/** What the owner of a SnapshotFile wants to know of it. */
export interface SnapshotFileEvents {
  /** A changed file has been swapped in. */
  onReplaced(snapshot: Snapshot): void;
  /** A changed file cannot be served; what was served before goes on. */
  onRejected(reason: string): void;
}

/** A file cannot be served. The message says what is wrong, with lines. */
export class SnapshotError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SnapshotError";
  }
}

/**
 * Feeds the store from a file of active contracts, and again whenever the file
 * changes. The file is polled, which also sees one that is replaced by renaming
 * or by a moved symbolic link.
 */
export class SnapshotFile {
  readonly #path: string;
  readonly #decoder: Decoder;
  readonly #writer: Pick<StoreWriter, "replace">;
  /** The reading under way; a change that arrives meanwhile is read behind it. */
  #work: Promise<void> = Promise.resolve();
  #listener: (() => void) | undefined;

  constructor(path: string, decoder: Decoder, writer: Pick<StoreWriter, "replace">) {
    this.#path = path;
    this.#decoder = decoder;
    this.#writer = writer;
  }

  /** Puts the file's contracts in the store. Throws SnapshotError, and leaves the store as it is, where it cannot. */
  async load(): Promise<Snapshot> {
    const { content, written } = await this.#read();
    const snapshot = parseSnapshot(content, this.#decoder);
    if (snapshot.problems.length > 0) throw new SnapshotError(formatProblems(this.#path, snapshot.problems));
    await this.#writer.replace(snapshot.contracts, snapshot.offset, written);
    return snapshot;
  }

  /**
   * Loads the file, and again when it has changed, looking every `intervalMs`,
   * until `close`. Throws SnapshotError where it cannot be served from the
   * start; then it is not watched either.
   */
  async start(intervalMs: number, events: SnapshotFileEvents): Promise<Snapshot> {
    // The watch begins with the reading, or a change between the two would go
    // unseen; what it sees is read behind it, or an older state could win.
    const first = this.load();
    this.#work = first.then(
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

  /** Stops watching, and waits for a reading under way. */
  async close(): Promise<void> {
    if (this.#listener !== undefined) unwatchFile(this.#path, this.#listener);
    await this.#work;
  }

  #watch(intervalMs: number, events: SnapshotFileEvents): void {
    let pending = false;
    this.#listener = () => {
      // However many changes come while one is read, one more reading sees them all.
      if (pending) return;
      pending = true;
      this.#work = this.#work.then(async () => {
        pending = false;
        try {
          events.onReplaced(await this.load());
        } catch (error) {
          events.onRejected(error instanceof Error ? error.message : String(error));
        }
      });
    };
    watchFile(this.#path, { interval: intervalMs }, this.#listener);
  }

  /** The content, and when it was last written, in microseconds since 1970: no later than what was read. */
  async #read(): Promise<{ readonly content: string; readonly written: number }> {
    try {
      const { mtimeMs } = await stat(this.#path);
      return { content: await readFile(this.#path, "utf8"), written: Math.floor(mtimeMs) * 1000 };
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
      throw new SnapshotError(`${this.#path} cannot be read (${code})`);
    }
  }
}
