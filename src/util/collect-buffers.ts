import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** A collection takes about a millisecond. */
const INTERVAL_BYTES = 2 * 1024 * 1024;
/** Smaller pieces have objects enough in the heap that V8 collects them in time. */
const MIN_BYTES = 4 * 1024;

type MinorCollection = (options: { readonly type: "minor" }) => void;

let collect: MinorCollection | undefined;
let bytesSince = 0;

/**
 * Call this for memory outside of the heap that has become garbage, such as a buffer that Node.js has read into. Has V8
 * collect young objects for every 2 MiB. By itself V8 lets 64 MB gather, since buffers count for full collections alone
 * (nodejs/node#1671), and malloc keeps most of what it once had. Can go when V8 counts them for young objects too.
 */
export function countExternalGarbage(bytes: number): void {
  if (bytes < MIN_BYTES) return;
  bytesSince += bytes;
  if (bytesSince < INTERVAL_BYTES) return;
  bytesSince = 0;
  collect ??= loadCollection();
  collect({ type: "minor" });
}

/** `--expose-gc` defines it in contexts that are made later. */
function loadCollection(): MinorCollection {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as MinorCollection;
}
