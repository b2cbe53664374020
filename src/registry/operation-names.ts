/** The names of all operations: those of the types, of registry files, and of the program are these. */
import { TRANSFER_KINDS } from "../domain/choice-context.js";

/** The choices of the token standard on contracts, as `contract/choice`. */
export const CHOICES = [
  "transfer-instruction/accept",
  "transfer-instruction/reject",
  "transfer-instruction/withdraw",
  "allocation-instruction/accept",
  "allocation-instruction/withdraw",
  "allocation/execute-transfer",
  "allocation/withdraw",
  "allocation/cancel",
] as const;
export type Choice = (typeof CHOICES)[number];

const ISSUANCE_INSTRUCTIONS = ["mint-offer", "mint-request", "burn-offer", "burn-request"] as const;
export type IssuanceInstruction = (typeof ISSUANCE_INSTRUCTIONS)[number];

export const ISSUANCE_CHOICES = ISSUANCE_INSTRUCTIONS.flatMap((instruction) =>
  (["accept", "reject", "cancel"] as const).map((choice) => `${instruction}/${choice}` as const),
);
export type IssuanceChoice = (typeof ISSUANCE_CHOICES)[number];

/** The factories of the token standard. */
export const FACTORIES = ["transfer-factory", "allocation-factory", "settlement-factory"] as const;
export type Factory = (typeof FACTORIES)[number];

/** Those of the token standard: a transfer has one for each of its kinds. */
export const STANDARD_OPERATIONS = [
  ...TRANSFER_KINDS.map((kind) => `transfer-factory/${kind}` as const),
  "allocation-factory",
  "settlement-factory",
  ...CHOICES,
] as const;

export const ISSUANCE_FACTORIES = [
  ...ISSUANCE_INSTRUCTIONS.map((instruction) => `${instruction}/create` as const),
  "burn-mint-factory",
] as const;
export type IssuanceFactory = (typeof ISSUANCE_FACTORIES)[number];

export const OPERATIONS = [...STANDARD_OPERATIONS, ...ISSUANCE_FACTORIES, ...ISSUANCE_CHOICES] as const;
export type TableOperation = (typeof OPERATIONS)[number];

/** Reject, withdraw and cancel must always be possible. */
export const isExit = (operation: string): boolean => /\/(?:reject|withdraw|cancel)$/.test(operation);

/** Whether a text has the form of a pattern, in which each `*` stands for any characters. */
export function matches(pattern: string, text: string): boolean {
  const [first = "", ...others] = pattern.split("*");
  if (others.length === 0) return pattern === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  const last = others.pop() ?? "";
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** The operations that a pattern names; without a `*` also those below the name: `transfer-factory` is all its kinds. */
export const operationsNamed = (
  pattern: string,
  among: readonly TableOperation[] = OPERATIONS,
): readonly TableOperation[] =>
  among.filter((name) => matches(pattern, name) || (!pattern.includes("*") && name.startsWith(`${pattern}/`)));
