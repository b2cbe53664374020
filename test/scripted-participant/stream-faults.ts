/** The faults of one stream. */
import type { Refusal } from "./errors.js";

export type StreamPath = "/v2/state/active-contracts" | "/v2/updates";

export type Ending =
  | { readonly type: "cut" | "reset" | "half frame" }
  | { readonly type: "silence"; readonly answersPings: boolean }
  | { readonly type: "error"; readonly refusal: Refusal }
  | { readonly type: "close"; readonly code: number };

/** Counts of messages begin when the fault is set. */
export interface StreamFaults {
  delayMs?: number;
  /** No OffsetCheckpoint is sent before this time, by `performance.now()`. */
  checkpointsFrom?: number;
  /** How many updates from before its begin offset it repeats. */
  duplicates?: number;
  ending?: { after: number; readonly ending: Ending };
  garbled?: { after: number; readonly text: (message: string) => string };
}

/** A copy with separate counts, since each stream counts its own messages. */
export function copied({ ending, garbled, ...others }: StreamFaults): StreamFaults {
  return { ...others, ...(ending && { ending: { ...ending } }), ...(garbled && { garbled: { ...garbled } }) };
}
