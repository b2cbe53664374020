import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
// The flag shows in contexts that are made after it was set.
const collect = runInNewContext("gc") as () => void;

/** Bytes of the heap in use, without garbage. */
export function heap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
