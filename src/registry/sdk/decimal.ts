/** Amounts of the ledger: a Daml Decimal has ten places behind the point and up to 28 before it. */
import { invalid, formatValue } from "../../domain/errors.js";
import type { JsonReader } from "./json-reader.js";

const PLACES = 10;
const form = /^([+-]?)(\d{1,28})(?:\.(\d{1,10}))?$/;

/** A decimal in units of its last place; undefined where the text is none. */
export function parseDecimal(text: string): bigint | undefined {
  const [, sign = "", whole = "", fraction = ""] = form.exec(text) ?? [];
  if (whole === "") return undefined;
  const amount = BigInt(whole + fraction.padEnd(PLACES, "0"));
  return sign === "-" ? -amount : amount;
}

/** The amount in a field, in units of its last place. Throws "invalid" where it is none. */
export function decimalField(fields: JsonReader, name: string): bigint {
  const text = fields.text(name);
  const amount = parseDecimal(text);
  if (amount !== undefined) return amount;
  throw invalid(`${fields.path(name)} has to be a decimal such as 1.0000000000, and is ${formatValue(text)}`);
}

/** The amount as the ledger writes it, with all ten places. */
export function decimalText(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(PLACES + 1, "0");
  return `${amount < 0n ? "-" : ""}${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`;
}
