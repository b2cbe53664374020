import type { AnyValue, NamedValue } from "../../registry/sdk/registry.js";
import type { Contract } from "../../domain/contract.js";
import type { CachedEntry } from "./entry-cache.js";

/**
 * Entries in the order of a JavaScript object, which the library follows: integer-like names come first. Only then has
 * an alias an entry of its own.
 */
export function inObjectOrder(values: readonly NamedValue[]): readonly NamedValue[] {
  for (const { name, alias } of values) {
    if (isDigit(name) || (alias !== undefined && isDigit(alias))) return sortedAsObject(values);
  }
  return values;
}

function sortedAsObject(values: readonly NamedValue[]): NamedValue[] {
  const entries = values.flatMap(({ name, alias, value }): [string, NamedValue][] => {
    const named = (own: string): [string, NamedValue] => [own, { name: own, alias: undefined, value }];
    return alias === undefined ? [named(name)] : [named(name), named(alias)];
  });
  return Object.values(Object.fromEntries(entries));
}

function isDigit(name: string): boolean {
  const code = name.charCodeAt(0);
  return code >= 0x30 && code <= 0x39;
}

const referencedContract = (value: AnyValue | undefined): Contract | undefined =>
  value?.tag === "AV_ContractId" ? value.contract : undefined;

/** Encodes an entry that refers to one contract, with its alias if it has one. */
export type EncodeReference = (contract: Contract, name: string, alias: string | undefined) => Uint8Array | CachedEntry;

/** The encoders of entries whose encoding is cached. */
export interface CachedEncoders {
  readonly reference: EncodeReference;
  /** A list of one reference. */
  readonly list: EncodeReference;
}

/** The cached encoding of an entry that refers to one contract, by itself or as all that a list has. Nearly all do. */
export function cachedEntry(
  { name, alias, value }: NamedValue,
  { reference, list }: CachedEncoders,
): Uint8Array | CachedEntry | undefined {
  if (value.tag === "AV_List" && value.value.length === 1) {
    const contract = referencedContract(value.value[0]);
    return contract === undefined ? undefined : list(contract, name, alias);
  }
  const contract = referencedContract(value);
  return contract === undefined ? undefined : reference(contract, name, alias);
}
