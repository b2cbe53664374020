import type { AnyValue, NamedValue } from "../../registry/sdk/registry.js";
import type { Contract } from "../../domain/contract.js";

/** Entries in the order of a JavaScript object, which the library follows: integer-like names come first. */
export function inObjectOrder(values: readonly NamedValue[]): readonly NamedValue[] {
  for (const { name } of values) if (isDigit(name.charCodeAt(0))) return sortedAsObject(values);
  return values;
}

function sortedAsObject(values: readonly NamedValue[]): NamedValue[] {
  return Object.values(Object.fromEntries(values.map((entry): [string, NamedValue] => [entry.name, entry])));
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

export const referencedContract = (value: AnyValue | undefined): Contract | undefined =>
  value?.tag === "AV_ContractId" ? value.contract : undefined;
