import { readFile } from "node:fs/promises";
import { LedgerError } from "../errors.js";

/** Reads a secret from a file, on every call: to renew it, replace the file. Throws LedgerError "denied". */
export function tokenFile(path: string): () => Promise<string> {
  return async () => {
    try {
      const token = (await readFile(path, "utf8")).trim();
      if (token !== "") return token;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
      throw new LedgerError("denied", `the token file ${path} cannot be read (${code})`);
    }
    throw new LedgerError("denied", `the token file ${path} is empty`);
  };
}
