import type { Contract, CountedOnly } from "../../domain/contract.js";
import type { JsonObject, JsonValue } from "../../domain/json.js";
import { type DecodedContract, type Decoder, laterState } from "../decode.js";
import type { Ledger } from "./ledger.js";
import { type Unreadable, unreadable } from "./updates.js";

export interface Snapshot {
  readonly offset: number;
  readonly contracts: readonly (Contract | CountedOnly)[];
  readonly unreadable: readonly Unreadable[];
  /** Of unreadable contracts, that they exist. */
  readonly existing: readonly Contract[];
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
  const existing = new Map<string, Contract>();
  for await (const element of ledger.activeContracts(offset)) {
    if (isCancelled()) break;
    const entry = decodeElement(element, decoder, skipped);
    if (entry === undefined) continue;
    if ("payload" in entry) {
      existing.set(entry.contractId, entry);
      continue;
    }
    const { contractId } = entry.contract;
    const earlier = entries.get(contractId);
    entries.set(contractId, earlier === undefined ? entry : (laterState(earlier, entry) ?? entry));
  }
  return {
    offset,
    contracts: [...entries.values()].map(({ contract }) => contract),
    unreadable: skipped,
    existing: [...existing.values()].filter(({ contractId }) => !entries.has(contractId)),
  };
}

/** Of a contract that cannot be decoded, that it exists. */
function decodeElement(
  element: JsonValue,
  decoder: Decoder,
  skipped: Unreadable[],
): DecodedContract | Contract | undefined {
  try {
    return decoder.decode(element);
  } catch (error) {
    const created = findCreatedEvent(element);
    skipped.push(unreadable(created, error));
    return decoder.unreadable(created);
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
