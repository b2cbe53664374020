/** What can go wrong with a stream. */
import type { Refusal } from "./errors.js";

export type StreamPath = "/v2/state/active-contracts" | "/v2/updates";

/** How a stream ends before its time. */
export type Ending =
  | { readonly how: "cut" | "reset" | "half frame" }
  | { readonly how: "silence"; readonly answersPings: boolean }
  | { readonly how: "error"; readonly refusal: Refusal }
  | { readonly how: "close"; readonly code: number };

/** What goes wrong with one stream. Its messages are counted from when the fault was given. */
export interface Troubles {
  delayMs?: number;
  /** Updates from before its begin that it sends first. */
  duplicates?: number;
  ending?: { after: number; readonly ending: Ending };
  garbled?: { after: number; readonly text: (message: string) => string };
}

/** The same, with counts of its own: faults that meet several streams are counted by each. */
export function copied({ ending, garbled, ...others }: Troubles): Troubles {
  return { ...others, ...(ending && { ending: { ...ending } }), ...(garbled && { garbled: { ...garbled } }) };
}
