/** What is sent to the service, and the outcome. */
import type { Prng } from "./prng.js";
import type { Target } from "./send/target.js";

export interface Input {
  /** Sends the input and applies the oracles to the response. */
  send(target: Target): Promise<Outcome>;
  show(): string;
}

export interface Outcome {
  /** The status, or why there is none; counted in the report. */
  readonly result: string;
  /** Undefined where the oracles accept the response. */
  readonly fault?: string;
}

export interface InputGenerator {
  readonly name: string;
  readonly share: number;
  readonly inFlight: number;
  make(prng: Prng): Input;
}

const MAX_SHOWN = 600;

export function toHex(bytes: Buffer): string {
  const suffix = bytes.length > MAX_SHOWN ? `… (${bytes.length} bytes)` : "";
  return bytes.subarray(0, MAX_SHOWN).toString("hex") + suffix;
}

export const truncate = (text: string): string =>
  text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)` : text;
