import type { Contract, CountedOnly } from "../../domain/contract.js";
import type { JsonObject, JsonValue } from "../../domain/json.js";
import { type DecodedContract, type Decoder, laterState } from "../decode.js";
import type { Ledger } from "./ledger.js";
import { type Unreadable, unreadable } from "./updates.js";

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
  const skipped: Unreadable[] = [];
  for await (const element of ledger.activeContracts(offset)) {
    if (isCancelled()) break;
    const entry = decodeElement(element, decoder, skipped);
    if (entry === undefined) continue;
    const { contractId } = entry.contract;
    const earlier = entries.get(contractId);
    entries.set(contractId, earlier === undefined ? entry : (laterState(earlier, entry) ?? entry));
  }
  return { offset, contracts: [...entries.values()].map(({ contract }) => contract), unreadable: skipped };
}

function decodeElement(element: JsonValue, decoder: Decoder, skipped: Unreadable[]): DecodedContract | undefined {
  try {
    return decoder.decode(element);
  } catch (error) {
    const created = findCreatedEvent(element);
    skipped.push(unreadable(created, error));
    const contract = decoder.unreadable(created);
    return contract && { contract, offset: 0 };
  }
}

/** The created event of an element, in any of its forms. Undefined if there is none. */
function findCreatedEvent(element: JsonValue): JsonValue | undefined {
  const [content] = Object.values(fieldsOf(fieldsOf(element).contractEntry));
  const { createdEvent, assignedEvent } = fieldsOf(content);
  return createdEvent ?? fieldsOf(assignedEvent).createdEvent;
}

const fieldsOf = (value: JsonValue | undefined): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
