import type { JsonValue } from "../../../domain/json.js";
import { parseLedgerTime } from "../../../domain/ledger-time.js";
import { parseDecimal } from "../../sdk/decimal.js";
import { accountOf, NO_OWNER } from "../../sdk/accounts.js";
import { JsonReader } from "../../sdk/json-reader.js";
import type { TransferTerms } from "../../sdk/registry.js";

/** A transfer in canonical form, for comparison. */
export interface Terms {
  /** All fields but the input holdings. */
  readonly agreed: string;
  readonly inputHoldingCids: string;
}

/** Throws a RangeError with the name of the field if the amount or a time is malformed. */
export function termsOf(transfer: TransferTerms): Terms {
  const amount = parseDecimal(transfer.amount);
  if (amount === undefined) throw new RangeError("amount");
  const { sender, receiver, instrumentId, requestedAt, executeBefore, meta } = transfer;
  const times = [parseTime("requestedAt", requestedAt), parseTime("executeBefore", executeBefore)];
  const values = Object.entries(meta).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    agreed: JSON.stringify([sender, receiver, String(amount), instrumentId.admin, instrumentId.id, ...times, values]),
    inputHoldingCids: JSON.stringify(transfer.inputHoldingCids),
  };
}

/** The `transfer` of a payload or argument, in version 1 or 2 of the standard; undefined if missing or malformed. */
export function termsIn(value: JsonValue): Terms | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  try {
    const transfer = new JsonReader(value, "").object("transfer");
    const instrument = transfer.object("instrumentId");
    const admin = instrument.id("admin");
    return termsOf({
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

function parseTime(name: string, text: string): number {
  try {
    // Callers may write UTC in another form than the ledger.
    return parseLedgerTime(text.toUpperCase().replace(/[+-]00:00$/, "Z"));
  } catch {
    throw new RangeError(name);
  }
}
