/** What is sent to the service, and what comes of it. */
import type { Dice } from "./prng.js";
import type { Target } from "./send/target.js";

/** One thing to send. */
export interface Input {
  /** Sends it, and says what is wrong with what came of it; undefined where nothing is. */
  send(target: Target): Promise<Outcome>;
  /** All of it, for people to read, cut where it is long. */
  show(): string;
}

export interface Outcome {
  /** What came, in a word, to be counted: a status. */
  readonly came: string;
  readonly wrong?: string;
}

/** Inputs of one kind. */
export interface Sort {
  readonly name: string;
  /** How many of a hundred inputs are of this sort. */
  readonly share: number;
  /** How many are on their way at the same time. */
  readonly inFlight: number;
  make(dice: Dice): Input;
}

/** The most that is shown of bytes. */
const MOST_SHOWN = 600;

/** Bytes as hexadecimal digits, cut where there are many. */
export function hex(bytes: Buffer): string {
  const cut = bytes.length > MOST_SHOWN ? `… (${bytes.length} bytes)` : "";
  return bytes.subarray(0, MOST_SHOWN).toString("hex") + cut;
}

/** A text cut where it is long. */
export const brief = (text: string): string =>
  text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}… (${text.length} characters)` : text;
