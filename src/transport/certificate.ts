import { createSecureContext } from "node:tls";
import { codeOf, FileError, readTextFile, ReloadedFiles } from "../util/reloaded-files.js";

/** A certificate chain, leaf first, and the private key of the leaf; both PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** Reloaded when its files change. The previous pair is served until the two new files match. */
export type Certificate = ReloadedFiles<KeyPair>;

/** Throws FileError if a file cannot be read or the two do not match. */
export const readCertificate = (certFile: string, keyFile: string): Promise<Certificate> =>
  ReloadedFiles.load("certificate", [certFile, keyFile], async () => {
    const keyPair = { cert: await readTextFile(certFile), key: await readTextFile(keyFile) };
    try {
      createSecureContext(keyPair);
    } catch (error) {
      const problem = `are not a certificate and its private key (${codeOf(error)})`;
      throw new FileError(`${certFile} and ${keyFile} ${problem}`);
    }
    return keyPair;
  });
