import { unwatchFile, watchFile } from "node:fs";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";

const POLL_MS = 1_000;

/** A certificate chain, leaf first, and the private key of the leaf; both PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** The message contains nothing of the key. */
export class CertificateError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CertificateError";
  }
}

export interface CertificateLog {
  readonly info: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
}

/** The certificate, reloaded when its files change. The previous pair is served until the two new files match. */
export class Certificate {
  readonly #certFile: string;
  readonly #keyFile: string;
  readonly #listeners: ((keyPair: KeyPair) => void)[] = [];
  #pair: KeyPair;
  #onFileChange: (() => void) | undefined;

  /** Throws CertificateError if a file cannot be read or the two do not match. */
  static async read(certFile: string, keyFile: string): Promise<Certificate> {
    return new Certificate(certFile, keyFile, await readKeyPair(certFile, keyFile));
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

  /** Polls the files until `close`. Several servers may share the certificate: further calls do nothing. */
  watch(log: CertificateLog): void {
    if (this.#onFileChange !== undefined) return;
    const reload = () => {
      readKeyPair(this.#certFile, this.#keyFile).then(
        (keyPair) => {
          if (keyPair.cert === this.#pair.cert && keyPair.key === this.#pair.key) return;
          this.#pair = keyPair;
          for (const listener of this.#listeners) listener(keyPair);
          log.info({ path: this.#certFile }, "certificate reloaded");
        },
        (error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error);
          log.error({ reason }, "certificate reload failed; still serving the previous one");
        },
      );
    };
    this.#onFileChange = reload;
    for (const file of [this.#certFile, this.#keyFile]) watchFile(file, { interval: POLL_MS }, reload);
  }

  close(): void {
    if (this.#onFileChange === undefined) return;
    for (const file of [this.#certFile, this.#keyFile]) unwatchFile(file, this.#onFileChange);
  }
}

async function readKeyPair(certFile: string, keyFile: string): Promise<KeyPair> {
  const keyPair = { cert: await readPem(certFile), key: await readPem(keyFile) };
  try {
    createSecureContext(keyPair);
  } catch (error) {
    throw new CertificateError(
      `${certFile} and ${keyFile} are not a certificate and its private key (${codeOf(error)})`,
    );
  }
  return keyPair;
}

async function readPem(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new CertificateError(`${file} cannot be read (${codeOf(error)})`);
  }
}

const codeOf = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "unknown");
