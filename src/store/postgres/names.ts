/**
 * Names of look-ups, as the database has them: a hash in the form of a uuid, of
 * one length whatever a ledger's texts hold. A writer says by them what an update
 * has changed, and a reader lets go of what it has under them.
 */
import { createHash } from "node:crypto";
import type { Kind } from "../store.js";

export type Name = string;

export const idName = (contractId: string): Name => nameOf(`id ${contractId}`);
export const keyName = (key: string): Name => nameOf(`key ${key}`);
/** There are few kinds, and each contract names its own. */
const kindNames = new WeakMap<Kind, Name>();

export function kindName(kind: Kind): Name {
  const known = kindNames.get(kind);
  if (known !== undefined) return known;
  const name = nameOf(`kind ${kind.packageName} ${kind.entity}`);
  kindNames.set(kind, name);
  return name;
}

export const sumName = (sum: string): Name => nameOf(`sum ${sum}`);
/** Of the one look-up that has no argument. */
export const censusName: Name = nameOf("census");

function nameOf(text: string): Name {
  const digits = createHash("sha256").update(text).digest("hex");
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20, 32)}`;
}
