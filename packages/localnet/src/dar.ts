/** What a DAR says of its main package. */
import { readFile } from "node:fs/promises";
import { inflateRawSync } from "node:zlib";
import { SetUpError } from "./error.js";

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
    manifest = fileIn(Buffer.from(bytes), MANIFEST)?.toString() ?? "";
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

const [END, ENTRY] = [0x06054b50, 0x02014b50];
const [STORED, DEFLATED] = [0, 8];
/** Of a manifest: what is larger is none. */
const MAX_BYTES = 1024 * 1024;

/** A file of a zip archive, by its directory at the end; undefined if it has none of the name. Throws for what is no archive. */
function fileIn(zip: Buffer, wanted: string): Buffer | undefined {
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end < 0 || zip.readUInt32LE(end) !== END) throw new Error("no archive");
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    if (zip.readUInt32LE(at) !== ENTRY) throw new Error("no entry");
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field));
    if (zip.toString("utf8", at + 46, at + 46 + (nameLength ?? 0)) === wanted) {
      const [method, size, header] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 20), zip.readUInt32LE(at + 42)];
      // The header before the content has lengths of its own.
      const from = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
      const content = zip.subarray(from, from + size);
      if (method === STORED) return content;
      if (method === DEFLATED) return inflateRawSync(content, { maxOutputLength: MAX_BYTES });
      throw new Error("unknown compression");
    }
    at += 46 + (nameLength ?? 0) + (extraLength ?? 0) + (commentLength ?? 0);
  }
  return undefined;
}
