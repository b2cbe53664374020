import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** A minor collection takes about a millisecond. */
const INTERVAL_BYTES = 2 * 1024 * 1024;
/** The objects of smaller buffers fill the young generation soon, so that V8 collects it by itself. */
const MIN_BYTES = 4 * 1024;

type MinorCollection = (options: { readonly type: "minor" }) => void;

let collect: MinorCollection | undefined;
let bytesSince = 0;

/**
 * Call this for a buffer that is used only for a moment, such as one that Node.js has read into. Starts a minor garbage
 * collection after every 2 MiB. V8 itself counts the bytes of buffers only for major collections (nodejs/node#1671), so
 * that up to 64 MB of them accumulate, and malloc does not return all of that to the system. Can go when V8 counts them
 * for minor collections too: test/util/external-garbage.test.ts fails then.
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
