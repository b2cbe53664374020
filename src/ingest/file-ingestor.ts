import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type FileHandle, open } from "node:fs/promises";
import { errorMessage, type Logger } from "../util/logger.js";
import { codeOf, type FileWatch, watchFiles } from "../util/reloaded-files.js";
import type { Decoder } from "../ledger/decode.js";
import { formatProblems, readSnapshot } from "../ledger/file/snapshot.js";
import type { StoreWriter } from "../state/port.js";
import type { Ingestor } from "./source.js";

/** `isHeld`: whether the writer keeps all contracts in memory; otherwise the file is read twice, so that they are not. */
export function fileIngestor(path: string, decoder: Decoder, isHeld: boolean, log: Logger): Ingestor {
  return {
    name: path,
    // A file may be edited under the same ids: contracts of two loads are never the same.
    get origin() {
      return `file ${path} ${randomUUID()}`;
    },
    reconnects: () => undefined,
    foreign: () => decoder.foreign,
    start(writer, signal) {
      const file = new SnapshotFile(path, decoder, writer, isHeld);
      let isLoaded = false;
      const loaded = file.start({
        onReplaced: (contracts) => log.info({ path, contracts }, "changed snapshot file loaded"),
        onRejected: (reason) =>
          log.error({ path, reason }, "changed snapshot file rejected; the previous contracts are still served"),
      });
      const untilEnd = async () => {
        if (!signal.aborted) await once(signal, "abort");
        await file.close();
      };
      return {
        started: loaded.then(() => {
          isLoaded = true;
        }),
        notReadyReason: () => (isLoaded ? undefined : `${path} has not been loaded yet`),
        offset: () => writer.checkpoint?.offset,
        age: () => (isLoaded ? 0 : undefined),
        otherHistory: () => undefined,
        ended: untilEnd(),
      };
    },
  };
}

export interface SnapshotFileEvents {
  /** With the number of contracts. */
  onReplaced(contracts: number): void;
  /** A changed file cannot be loaded. The store keeps the previous contracts. */
  onRejected(reason: string): void;
}

/** A file cannot be loaded. The message has the problems with their lines. */
export class SnapshotError extends Error {
  override readonly name = "SnapshotError";
}

/** Loads a file into the store, again whenever it changes. */
export class SnapshotFile {
  #watch: FileWatch<number> | undefined;

  constructor(
    private readonly path: string,
    private readonly decoder: Decoder,
    private readonly writer: Pick<StoreWriter, "replace">,
    private readonly isHeld: boolean,
  ) {}

  /**
   * Loads the file into the store, and returns the number of contracts. Throws SnapshotError, and leaves the store
   * unchanged, if it cannot.
   */
  async load(): Promise<number> {
    const { path, decoder } = this;
    const file = await this.#reading(() => open(path));
    try {
      const { mtimeMs, size } = await this.#reading(() => file.stat());
      const { index, contracts } = await this.#reading(() => readSnapshot(() => chunksOf(file), decoder, this.isHeld));
      if (index.problems.length > 0) throw new SnapshotError(formatProblems(path, index.problems));
      const unchanged = async () => {
        const now = await file.stat();
        // The change is noticed and loaded.
        if (now.mtimeMs !== mtimeMs || now.size !== size)
          throw new SnapshotError(`${path} has changed while it was read`);
      };
      // In microseconds since 1970, and not later than the content.
      await this.writer.replace(checked(contracts(), unchanged), index.offset, Math.floor(mtimeMs) * 1000);
      return index.size;
    } finally {
      await file.close();
    }
  }

  /**
   * Loads the file and watches it until `close`, every second if `intervalMs` is not given. Throws SnapshotError, and does not
   * watch, if the first load fails.
   */
  async start(events: SnapshotFileEvents, intervalMs?: number): Promise<number> {
    const again = () =>
      this.load().then(
        (contracts) => events.onReplaced(contracts),
        (error: unknown) => events.onRejected(errorMessage(error)),
      );
    this.#watch = watchFiles([this.path], () => this.load(), again, intervalMs);
    try {
      return await this.#watch.first;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Stops watching. Resolves when a load in progress has ended. */
  async close(): Promise<void> {
    await this.#watch?.close();
  }

  /** Throws SnapshotError where the file cannot be read. */
  async #reading<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof Error && "syscall" in error)) throw error;
      throw new SnapshotError(`${this.path} cannot be read (${codeOf(error)})`);
    }
  }
}

/** The text of a file from its beginning, which stays open. In pieces of 64 KiB, the default, no turn of the event loop is long. */
const chunksOf = (file: FileHandle): AsyncIterable<string> =>
  // With an encoding, chunks are text.
  file.createReadStream({ start: 0, autoClose: false, encoding: "utf8" }) as AsyncIterable<string>;

/** `check` throws if the whole must not be used, which may also be why an item cannot be read. */
async function* checked<T>(items: Iterable<T> | AsyncIterable<T>, check: () => Promise<void>): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    await check();
    throw error;
  }
  await check();
}
