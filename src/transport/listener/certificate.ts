import { unwatchFile, watchFile } from "node:fs";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";

/** How often the files are looked at, in milliseconds. */
const POLL_MS = 1_000;

/** A chain of certificates and the private key of its first, as PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** A certificate cannot be used. The message says why, and holds nothing of the key. */
export class CertificateError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CertificateError";
  }
}

/** Is told of what becomes of files that have changed. */
export interface CertificateLog {
  readonly info: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
}

/**
 * The certificate of the service, read again when its files change. Of the two one may be there before the other: until
 * they fit, what was used before goes on.
 */
export class Certificate {
  readonly #certFile: string;
  readonly #keyFile: string;
  readonly #listeners: ((keyPair: KeyPair) => void)[] = [];
  #pair: KeyPair;
  #watching: (() => void) | undefined;

  /** Throws CertificateError where the files cannot be read, or do not fit. */
  static async read(certFile: string, keyFile: string): Promise<Certificate> {
    return new Certificate(certFile, keyFile, await pairOf(certFile, keyFile));
  }

  private constructor(certFile: string, keyFile: string, keyPair: KeyPair) {
    this.#certFile = certFile;
    this.#keyFile = keyFile;
    this.#pair = keyPair;
  }

  get pair(): KeyPair {
    return this.#pair;
  }

  onChange(listener: (keyPair: KeyPair) => void): void {
    this.#listeners.push(listener);
  }

  /** Looks at the files every second, until `close`. */
  watch(log: CertificateLog): void {
    const look = () => {
      pairOf(this.#certFile, this.#keyFile).then(
        (keyPair) => {
          if (keyPair.cert === this.#pair.cert && keyPair.key === this.#pair.key) return;
          this.#pair = keyPair;
          for (const listener of this.#listeners) listener(keyPair);
          log.info({ path: this.#certFile }, "serving the changed certificate");
        },
        (error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error);
          log.error({ reason }, "the changed certificate cannot be used; the one before goes on");
        },
      );
    };
    this.#watching = look;
    for (const file of [this.#certFile, this.#keyFile]) watchFile(file, { interval: POLL_MS }, look);
  }

  close(): void {
    if (this.#watching === undefined) return;
    for (const file of [this.#certFile, this.#keyFile]) unwatchFile(file, this.#watching);
  }
}

async function pairOf(certFile: string, keyFile: string): Promise<KeyPair> {
  const pair = { cert: await read(certFile), key: await read(keyFile) };
  try {
    createSecureContext(pair);
  } catch (error) {
    // OpenSSL names what does not fit, and nothing of what stands in the files.
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw new CertificateError(`${certFile} and ${keyFile} are no certificate with its private key (${code})`);
  }
  return pair;
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw new CertificateError(`${file} cannot be read (${code})`);
  }
}
