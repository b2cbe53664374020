/** Daml Decimals: up to 28 digits before the point and 10 after it. */

const PLACES = 10;
const decimalPattern = /^([+-]?)(\d{1,28})(?:\.(\d{1,10}))?$/;

/** A decimal in units of 10^-10; undefined if the text is malformed. */
export function parseDecimal(text: string): bigint | undefined {
  const [, sign = "", whole = "", fraction = ""] = decimalPattern.exec(text) ?? [];
  if (whole === "") return undefined;
  const amount = BigInt(whole + fraction.padEnd(PLACES, "0"));
  return sign === "-" ? -amount : amount;
}

/** The amount in the ledger's format, with ten decimal places. */
export function decimalText(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(PLACES + 1, "0");
  return `${amount < 0n ? "-" : ""}${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`;
}
