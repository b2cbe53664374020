import { createHash, timingSafeEqual } from "node:crypto";
import { unwatchFile, watchFile } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Logger } from "../../util/logger.js";

const POLL_MS = 1_000;
const MIN_CHARACTERS = 16;

/** The message contains nothing of the token. */
export class OperatorTokenError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "OperatorTokenError";
  }
}

/** The token of operators, reloaded when its file changes. Until the new file has a token, the previous one is accepted. */
export class OperatorToken {
  readonly #path: string;
  #digest: Buffer;
  #onFileChange: (() => void) | undefined;

  /** Throws OperatorTokenError if the file cannot be read, or has no token of 16 characters. */
  static async read(path: string): Promise<OperatorToken> {
    return new OperatorToken(path, await readDigest(path));
  }

  private constructor(path: string, digest: Buffer) {
    this.#path = path;
    this.#digest = digest;
  }

  /** Compares digests in constant time: the time says nothing about the token, not even its length. */
  accepts(token: string): boolean {
    return timingSafeEqual(digestOf(token), this.#digest);
  }

  /** Polls the file until `close`. */
  watch(log: Logger): void {
    const reload = () => {
      readDigest(this.#path).then(
        (digest) => {
          if (digest.equals(this.#digest)) return;
          this.#digest = digest;
          log.info({ path: this.#path }, "operator token reloaded");
        },
        (error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error);
          log.error({ reason }, "operator token reload failed; still accepting the previous one");
        },
      );
    };
    this.#onFileChange = reload;
    watchFile(this.#path, { interval: POLL_MS }, reload);
    // The file may have changed since it was read.
    reload();
  }

  close(): void {
    if (this.#onFileChange !== undefined) unwatchFile(this.#path, this.#onFileChange);
  }
}

async function readDigest(path: string): Promise<Buffer> {
  let token: string;
  try {
    token = (await readFile(path, "utf8")).trim();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw new OperatorTokenError(`${path} cannot be read (${code})`);
  }
  if (token.length < MIN_CHARACTERS)
    throw new OperatorTokenError(`the token in ${path} has ${token.length} characters`);
  // A header cannot carry others.
  if (!/^[!-~]+$/.test(token)) throw new OperatorTokenError(`the token in ${path} has spaces, or is not ASCII`);
  return digestOf(token);
}

const digestOf = (token: string): Buffer => createHash("sha256").update(token).digest();
