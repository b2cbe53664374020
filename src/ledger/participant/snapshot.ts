import type { Contract, CountedOnly } from "../../domain/contract.js";
import type { JsonValue } from "../../domain/json.js";
import { errorMessage } from "../../util/error-message.js";
import { type DecodedContract, type Decoder, laterState } from "../decode.js";
import type { Ledger } from "./ledger.js";
import type { Unreadable } from "./updates.js";

export interface Snapshot {
  readonly offset: number;
  readonly contracts: readonly (Contract | CountedOnly)[];
  readonly unreadable: readonly Unreadable[];
}

/** Reads a snapshot. Stops early when `isCancelled`; the result is then incomplete. */
export async function takeSnapshot(
  ledger: Ledger,
  offset: number,
  decoder: Decoder,
  isCancelled: () => boolean,
): Promise<Snapshot> {
  const entries = new Map<string, DecodedContract>();
  const unreadable: Unreadable[] = [];
  for await (const element of ledger.activeContracts(offset)) {
    if (isCancelled()) break;
    const entry = decodeElement(element, decoder, unreadable);
    if (entry === undefined) continue;
    const { contractId } = entry.contract;
    const earlier = entries.get(contractId);
    entries.set(contractId, earlier === undefined ? entry : (laterState(earlier, entry) ?? entry));
  }
  return { offset, contracts: [...entries.values()].map(({ contract }) => contract), unreadable };
}

function decodeElement(element: JsonValue, decoder: Decoder, unreadable: Unreadable[]): DecodedContract | undefined {
  try {
    return decoder.decode(element);
  } catch (error) {
    unreadable.push({ contractId: "of an active contract", reason: errorMessage(error) });
    return undefined;
  }
}
