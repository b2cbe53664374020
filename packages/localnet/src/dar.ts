/** What a DAR says of its main package. */
import { readFile } from "node:fs/promises";
import { strFromU8, unzipSync } from "fflate";
import { SetUpError } from "./token.js";

export interface Dar {
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly version: string;
  readonly packageId: string;
}

const MANIFEST = "META-INF/MANIFEST.MF";

/** Throws SetUpError. */
export async function readDar(path: string): Promise<Dar> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch {
    throw new SetUpError(`${path} cannot be read: it is the DAR of the token, from the release of its authors`);
  }
  let manifest = "";
  try {
    const files = unzipSync(bytes, { filter: ({ name }) => name === MANIFEST });
    manifest = strFromU8(files[MANIFEST] ?? new Uint8Array());
  } catch {
    // Not a zip file: told below.
  }
  // Long lines go on in the next, after a space.
  const lines = manifest.replaceAll(/\r?\n /g, "");
  const [, main = ""] = /^Main-Dalf: (.*)$/m.exec(lines) ?? [];
  const [, name, version, packageId] = /([^/]+)-(\d[\w.]*)-([0-9a-f]{64})\.dalf$/.exec(main.trim()) ?? [];
  if (name === undefined || version === undefined || packageId === undefined)
    throw new SetUpError(`${path} is no DAR: it has no manifest that names its main package`);
  return { bytes, name, version, packageId };
}
