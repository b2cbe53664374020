/** Where the compressed form of a chunk is kept. */
import { type ContractSlot, contractSlot } from "../../domain/contract-slots.js";
import type { ChunkList } from "../encoding/chunk-list.js";
import { binaryElement, type EncodeElement, jsonElement } from "../encoding/disclosed-contract.js";
import { DeflateSlot } from "./deflate-cache.js";

/** Shorter chunks compress little: each has Huffman codes of its own. */
const MIN_BYTES = 200;

/** With a contract, for each encoding of it as an element of `disclosedContracts`. */
const elementSlots = new Map<EncodeElement, ContractSlot<DeflateSlot>>(
  [...Object.values(jsonElement), ...Object.values(binaryElement)].map((encode) => [encode, contractSlot()]),
);

/** The slot of a chunk that is kept with a contract; undefined for other chunks and short ones. */
export function slotOf({ chunks, elements }: ChunkList, index: number): DeflateSlot | undefined {
  const chunk = chunks[index];
  if (chunk === undefined || typeof chunk === "number" || chunk instanceof Uint8Array) return undefined;
  if (typeof chunk === "object") {
    return chunk.encoded.length < MIN_BYTES ? undefined : (chunk.deflateSlot ??= new DeflateSlot());
  }
  if (elements === undefined || index < elements.start || chunk.length < MIN_BYTES) return undefined;
  const contract = elements.contracts[index - elements.start];
  const slots = elementSlots.get(elements.encode);
  if (contract === undefined || slots === undefined) return undefined;
  const known = slots.get(contract);
  if (known !== undefined) return known;
  const slot = new DeflateSlot();
  slots.set(contract, slot);
  return slot;
}
