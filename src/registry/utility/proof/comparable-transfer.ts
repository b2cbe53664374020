import { invalidField } from "../../../domain/errors.js";
import type { JsonValue } from "../../../domain/json.js";
import { parseLedgerTime } from "../../../domain/ledger-time.js";
import { accountOf, NO_OWNER } from "../../sdk/accounts.js";
import { parseDecimal } from "../../sdk/decimal.js";
import { JsonReader } from "../../sdk/json-reader.js";
import type { TransferTerms } from "../../sdk/registry.js";

/** A transfer in a form in which equal ones are equal text. */
export interface ComparableTransfer {
  /** All fields but the input holdings: those differ between the payer's transfer and the offer's. */
  readonly values: string;
  readonly inputs: string;
}

export const isSame = (a: ComparableTransfer, b: ComparableTransfer): boolean =>
  a.values === b.values && a.inputs === b.inputs;

/** Throws RegistryError "invalid" with the name of a malformed field. */
export function comparable(transfer: TransferTerms): ComparableTransfer {
  const { sender, receiver, instrumentId, requestedAt, executeBefore, inputHoldingCids, meta } = transfer;
  const amount = parseDecimal(transfer.amount);
  if (amount === undefined) throw invalidField("transfer.amount", "must be a decimal such as 1.0000000000");
  const times = [readTime("requestedAt", requestedAt), readTime("executeBefore", executeBefore)];
  const entries = Object.entries(meta).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    values: JSON.stringify([sender, receiver, String(amount), instrumentId.admin, instrumentId.id, times, entries]),
    inputs: JSON.stringify(inputHoldingCids),
  };
}

/**
 * The field `transfer` of a payload or a choice's argument, of version 1 or 2 of the standard. Undefined if it is missing
 * or malformed: then it equals no transfer.
 */
export function transferIn(value: JsonValue | undefined): ComparableTransfer | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  try {
    const transfer = new JsonReader(value, "").object("transfer");
    const instrument = transfer.object("instrumentId");
    const admin = instrument.id("admin");
    return comparable({
      sender: partyIn(transfer, "sender", admin),
      receiver: partyIn(transfer, "receiver", admin),
      amount: transfer.text("amount"),
      instrumentId: { admin, id: instrument.id("id") },
      requestedAt: transfer.text("requestedAt"),
      executeBefore: transfer.text("executeBefore"),
      inputHoldingCids: transfer.texts("inputHoldingCids"),
      meta: transfer.optionalObject("meta")?.optionalObject("values")?.allTexts() ?? {},
    });
  } catch {
    return undefined;
  }
}

/** As version 1 of the standard names the party of an account. */
function partyIn(transfer: JsonReader, name: string, admin: string): string {
  if (typeof transfer.raw(name) === "string") return transfer.id(name);
  const { party, isSpecial } = accountOf(transfer.object(name), admin);
  return isSpecial ? NO_OWNER : party;
}

function readTime(name: string, text: string): number {
  try {
    // Callers may write UTC in another form than the ledger.
    return parseLedgerTime(text.toUpperCase().replace(/[+-]00:00$/, "Z"));
  } catch {
    throw invalidField(`transfer.${name}`, "must be a time such as 2026-01-31T12:00:00.123456Z");
  }
}
