/** Parses the content of a snapshot file into contracts, or into a list of its problems. Pure. */
import type { Contract, CountedOnly } from "../../domain/contract.js";
import type { JsonValue } from "../../domain/json.js";
import { errorMessage } from "../../util/logger.js";
import { type DecodedContract, type Decoder, lastOffset, laterState } from "../decode.js";
import { type ElementText, FormError, splitElements } from "./split-elements.js";

export interface Problem {
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

export interface Snapshot {
  readonly contracts: readonly (Contract | CountedOnly)[];
  /** The highest offset in the file; 0 if it has none. */
  readonly offset: number;
  readonly ignored: number;
  /** Empty if the file is valid. Holds the first MAX_PROBLEMS. */
  readonly problems: readonly Problem[];
}

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
        const value = parseElement(element);
        const entry = decoder.decode(value);
        offset = Math.max(offset, lastOffset(value));
        if (entry === undefined) {
          ignored++;
          continue;
        }
        const id = entry.contract.contractId;
        const earlier = entries.get(id);
        const latest = earlier === undefined ? entry : laterState(earlier.entry, entry);
        if (latest === undefined) throw new Error(`contract ${id} is already on line ${earlier?.line}`);
        if (latest === entry) entries.set(id, { entry, line: element.line });
      } catch (error) {
        problems.push({ line: element.line, reason: errorMessage(error) });
      }
    }
  } catch (error) {
    if (!(error instanceof FormError)) throw error;
    if (problems.length < MAX_PROBLEMS) problems.push({ line: error.line, reason: error.message });
  }
  return { contracts: [...entries.values()].map(({ entry }) => entry.contract), offset, ignored, problems };
}

/** One line of text per problem, as `path:line: reason`. */
export function formatProblems(path: string, problems: readonly Problem[]): string {
  return problems.map(({ line, reason }) => `${path}:${line}: ${reason}`).join("\n");
}

function parseElement({ text }: ElementText): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new Error(`not JSON: ${errorMessage(error)}`, { cause: error });
  }
}
