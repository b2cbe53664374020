import type { Contract, CountedOnly } from "../../domain/contract.js";
import type { JsonValue } from "../../domain/json.js";
import { type Decoder, type DecodedContract, laterState } from "../decode.js";
import type { Ledger } from "./ledger.js";
import type { Unreadable } from "./updates.js";

/** What is active at an offset. */
export interface Snapshot {
  readonly offset: number;
  readonly contracts: readonly (Contract | CountedOnly)[];
  /** Contracts that cannot be read, and so are left out. */
  readonly unreadable: readonly Unreadable[];
}

/** Reads a snapshot. Leaves off, and what it gives is in vain, as soon as `isVain`. */
export async function takeSnapshot(
  ledger: Ledger,
  offset: number,
  decoder: Decoder,
  isVain: () => boolean,
): Promise<Snapshot> {
  const entries = new Map<string, DecodedContract>();
  const unreadable: Unreadable[] = [];
  for await (const element of ledger.activeContracts(offset)) {
    if (isVain()) break;
    const entry = decode(element, decoder, unreadable);
    if (entry === undefined) continue;
    const { contractId } = entry.contract;
    const known = entries.get(contractId);
    entries.set(contractId, known === undefined ? entry : (laterState(known, entry) ?? entry));
  }
  return { offset, contracts: [...entries.values()].map(({ contract }) => contract), unreadable };
}

function decode(element: JsonValue, decoder: Decoder, unreadable: Unreadable[]): DecodedContract | undefined {
  try {
    return decoder.decode(element);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    unreadable.push({ contractId: "of an active contract", reason });
    return undefined;
  }
}
