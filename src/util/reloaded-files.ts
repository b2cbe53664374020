/** What files contain, read again when they change. */
import { unwatchFile, watchFile } from "node:fs";
import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { errorMessage, type Logger } from "./logger.js";

const POLL_MS = 1_000;

/** A file has nothing that can be used. The message names the file and contains nothing of it. */
export class FileError extends Error {
  override readonly name = "FileError";
}

/** Reads a text in UTF-8. Throws FileError. */
export async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new FileError(`${path} cannot be read (${codeOf(error)})`);
  }
}

/** The code of an error of Node.js, for messages without its text. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "unknown";

export interface FileWatch<T> {
  /** What the first read gives. */
  readonly first: Promise<T>;
  /** Stops the watch. Resolves when a read under way has ended. */
  close(): Promise<void>;
}

/**
 * Polls files until `close`, which also notices a rename and a moved symbolic link. Reads them at once, and again whenever they
 * change: one read after the other, of which one that is yet to begin covers all changes until then. `again` must not reject.
 */
export function watchFiles<T>(
  paths: readonly string[],
  first: () => Promise<T>,
  again: () => Promise<void>,
  intervalMs = POLL_MS,
): FileWatch<T> {
  let isPending = false;
  const onChange = () => {
    if (isPending) return;
    isPending = true;
    reading = reading.then(() => {
      isPending = false;
      return again();
    });
  };
  // From before the first read: a change during it must not be missed.
  for (const path of paths) watchFile(path, { interval: intervalMs }, onChange);
  const read = first();
  let reading: Promise<void> = read.then(
    () => undefined,
    () => undefined,
  );
  return {
    first: read,
    async close() {
      for (const path of paths) unwatchFile(path, onChange);
      await reading;
    },
  };
}

/** A value that was read from files. While they cannot be used, the previous value stays. */
export class ReloadedFiles<T> {
  readonly #listeners: ((value: T) => void)[] = [];
  #value: T;
  #watch: FileWatch<void> | undefined;

  /** Reads the files with `read`, whose error it throws. The log calls the value `what`. */
  static async load<T>(what: string, paths: readonly string[], read: () => Promise<T>): Promise<ReloadedFiles<T>> {
    return new ReloadedFiles(what, paths, read, await read());
  }

  private constructor(
    private readonly what: string,
    private readonly paths: readonly string[],
    private readonly read: () => Promise<T>,
    value: T,
  ) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  onChange(listener: (value: T) => void): void {
    this.#listeners.push(listener);
  }

  /** Polls the files until `close`. Several servers may share them: further calls do nothing. */
  watch(log: Logger): void {
    // They may have changed since they were read.
    this.#watch ??= watchFiles(
      this.paths,
      () => this.#reload(log),
      () => this.#reload(log),
    );
  }

  async close(): Promise<void> {
    await this.#watch?.close();
  }

  async #reload(log: Logger): Promise<void> {
    try {
      const value = await this.read();
      if (isDeepStrictEqual(value, this.#value)) return;
      this.#value = value;
      for (const listener of this.#listeners) listener(value);
      log.info({ path: this.paths[0] }, `${this.what} reloaded`);
    } catch (error) {
      log.error({ reason: errorMessage(error) }, `${this.what} reload failed; still using the previous one`);
    }
  }
}
