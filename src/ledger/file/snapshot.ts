/** The content of a snapshot file -> contracts, or everything that is wrong with it. Pure. */
import type { Contract, CountedOnly } from "../../domain/contract.js";
import type { JsonValue } from "../../domain/json.js";
import { type Decoder, type DecodedContract, laterState, offsetOf } from "../decode.js";
import { type ElementText, FormError, splitElements } from "./split-elements.js";

/** Something in the file that is not as it should be. */
export interface Problem {
  /** Counted from 1. */
  readonly line: number;
  readonly reason: string;
}

export interface Snapshot {
  readonly contracts: readonly (Contract | CountedOnly)[];
  /** The highest offset that the file tells of; 0 where it tells none. */
  readonly offset: number;
  /** Elements that no rule needs, and that are not kept. */
  readonly ignored: number;
  /** Empty where the file is sound. Of more than PROBLEM_LIMIT the first are told. */
  readonly problems: readonly Problem[];
}

/** A file that is wrong all over is not told line by line. */
export const MAX_PROBLEMS = 20;

export function parseSnapshot(file: string, decoder: Decoder): Snapshot {
  const entries = new Map<string, { readonly entry: DecodedContract; readonly line: number }>();
  const problems: Problem[] = [];
  let ignored = 0;
  let offset = 0;
  try {
    for (const element of splitElements(file)) {
      if (problems.length >= MAX_PROBLEMS) break;
      try {
        const value = parse(element);
        const entry = decoder.decode(value);
        offset = Math.max(offset, offsetOf(value));
        if (entry === undefined) {
          ignored++;
          continue;
        }
        const id = entry.contract.contractId;
        const known = entries.get(id);
        const kept = known === undefined ? entry : laterState(known.entry, entry);
        if (kept === undefined) throw new Error(`contract ${id} stands on line ${known?.line} already`);
        if (kept === entry) entries.set(id, { entry, line: element.line });
      } catch (error) {
        problems.push({ line: element.line, reason: messageOf(error) });
      }
    }
  } catch (error) {
    if (!(error instanceof FormError)) throw error;
    if (problems.length < MAX_PROBLEMS) problems.push({ line: error.line, reason: error.message });
  }
  return { contracts: [...entries.values()].map(({ entry }) => entry.contract), offset, ignored, problems };
}

/** The problems of a file as text, a line each. */
export function formatProblems(path: string, problems: readonly Problem[]): string {
  return problems.map(({ line, reason }) => `${path}:${line}: ${reason}`).join("\n");
}

function parse({ text }: ElementText): JsonValue {
  try {
    // JSON.parse gives nothing but JSON values.
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new Error(`not JSON: ${messageOf(error)}`, { cause: error });
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
