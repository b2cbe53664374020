/**
 * Names of look-ups, as the database has them: a hash in the form of a uuid, of
 * one length whatever a ledger's texts hold. A writer says by them what an update
 * has changed, and a reader lets go of what it has under them.
 */
import { createHash } from "node:crypto";
import type { Template } from "../../domain/template.js";

export type LookupHash = string;

export const idHash = (contractId: string): LookupHash => nameOf(`id ${contractId}`);
export const keyHash = (key: string): LookupHash => nameOf(`key ${key}`);
/** There are few kinds, and each contract names its own. */
const kindNames = new WeakMap<Template, LookupHash>();

export function templateHash(template: Template): LookupHash {
  const known = kindNames.get(template);
  if (known !== undefined) return known;
  const name = nameOf(`kind ${template.packageName} ${template.qualifiedName}`);
  kindNames.set(template, name);
  return name;
}

export const sumHash = (sum: string): LookupHash => nameOf(`sum ${sum}`);
/** Of the one look-up that has no argument. */
export const countsHash: LookupHash = nameOf("census");

function nameOf(text: string): LookupHash {
  const digits = createHash("sha256").update(text).digest("hex");
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20, 32)}`;
}
