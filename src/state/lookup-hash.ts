/**
 * Hashes of lookups, in uuid form: ledger strings can be too long for an index, or invalid as SQL text. A change of the
 * store is described by the hashes of the lookups whose results it changes.
 */
import { hash as digest } from "node:crypto";
import { type Contract, type CountedOnly, isStored } from "../domain/contract.js";
import { partsOf, type SupplyContribution, type Template } from "../domain/template.js";

export type LookupHash = string;

/**
 * The public name of a lookup: the first 8 hexadecimal digits of its hash, the same on every follower. It says nothing of
 * the lookup to those who do not know it. Two lookups may share a tag: an answer is then dropped without need.
 */
export type Tag = string;

const TAG_LENGTH = 8;

export const tagOf = (lookup: LookupHash): Tag => lookup.slice(0, TAG_LENGTH);

export const idHash = (contractId: string): LookupHash => hashText(`id ${contractId}`);
export const templateHash = ({ packageName, qualifiedName }: Template): LookupHash =>
  hashText(`template ${packageName} ${qualifiedName}`);
export const indexKeyHash = (indexKey: string): LookupHash => hashText(`index key ${indexKey}`);
export const sumHash = (sum: string): LookupHash => hashText(`sum ${sum}`);

export const tallyHash = (group: string): LookupHash => hashText(`tally ${group}`);

/** Identifies a content id among the states of a database; see content-id.ts. */
export const contentHash = (contentId: string): LookupHash => hashText(`content ${contentId}`);

/** Stands for all lookups that find contracts of a registrar. No result has this hash; streams select changes by it. */
export const registrarHash = (registrar: string): LookupHash => hashText(`registrar ${registrar}`);
/** As `registrarHash`, for contracts that answers of every registrar may use. */
export const anyRegistrarHash: LookupHash = hashText("any registrar");

/** Which streams have to learn of a change of the contract. */
export function registrarHashOf({ template, fields }: Contract): LookupHash {
  const registrar = template.registrarOf?.(fields);
  return registrar === undefined ? anyRegistrarHash : registrarHash(registrar);
}

/** The lookups whose results change when a contract is added or removed, and its registrar. */
export function touchedLookups(contract: Contract | CountedOnly): LookupHash[] {
  const sums = contract.supply === undefined ? [] : touchedBy(contract.supply);
  if (!isStored(contract)) return [...sums, anyRegistrarHash];
  return [
    idHash(contract.contractId),
    ...partsOf(contract.template).map(templateHash),
    registrarHashOf(contract),
    ...contract.indexKeys.map(indexKeyHash),
    ...new Set((contract.template.tally?.(contract.fields) ?? []).map(({ group }) => tallyHash(group))),
    ...sums,
  ];
}

/** The lookups whose results change with a sum. */
export const touchedBy = ({ sum, tally }: SupplyContribution): LookupHash[] => [
  sumHash(sum),
  ...(tally === undefined ? [] : [tallyHash(tally.group)]),
];

/** The first 16 bytes of the SHA-256 digest. */
function hashText(text: string): LookupHash {
  const digits = digest("sha256", text, "hex");
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20, 32)}`;
}
