import { type Contract, type CountedOnly, isStored } from "../domain/contract.js";
import {
  anyRegistrarHash,
  idHash,
  indexKeyHash,
  type LookupHash,
  registrarHash,
  sumHash,
  templateHash,
} from "./lookup-hash.js";

/** Which streams have to learn of a change of the contract. */
export function registrarHashOf({ template, fields }: Contract): LookupHash {
  const registrar = template.registrarOf?.(fields);
  return registrar === undefined ? anyRegistrarHash : registrarHash(registrar);
}

/** The lookups whose results change when a contract is added or removed, and its registrar. */
export function touchedLookups(contract: Contract | CountedOnly): LookupHash[] {
  const sums = contract.supply === undefined ? [] : [sumHash(contract.supply.sum)];
  if (!isStored(contract)) return [...sums, anyRegistrarHash];
  return [
    idHash(contract.contractId),
    templateHash(contract.template),
    registrarHashOf(contract),
    ...contract.indexKeys.map(indexKeyHash),
    ...sums,
  ];
}
