import type { Tag } from "../../store/lookup-hash.js";
import type { StreamPosition } from "./position.js";

/** Says that its reader now knows of all changes up to a position. */
export type WatchEvent = StreamPosition & {
  /** Ledger time of the state at the position, in microseconds since 1970; undefined if the source gave none. */
  readonly asOf: number | undefined;
} & (
    | { readonly type: "reset" }
    /** The tags of changed lookups, each once. */
    | { readonly type: "changed"; readonly tags: readonly Tag[] }
    /** Milliseconds since the store was last known to equal the ledger; undefined if it never was. */
    | { readonly type: "heartbeat"; readonly age: number | undefined }
  );
