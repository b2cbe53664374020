const UTC_TIME = /^\d{4}-\d{2}-(\d{2})T(\d{2}):\d{2}:\d{2}(?:\.(\d{1,9}))?Z$/;

/**
 * Converts a ledger time, RFC 3339 in UTC, to microseconds since 1970. Finer digits are cut off. Throws an Error if the
 * text is not such a time.
 */
export function parseLedgerTime(time: string): number {
  const match = UTC_TIME.exec(time);
  const millis = match === null ? Number.NaN : Date.parse(time);
  const [, day, hour, decimals = ""] = match ?? [];
  // Date.parse reads 30 February as a day in March.
  if (Number.isNaN(millis) || new Date(millis).getUTCDate() !== Number(day) || hour === "24")
    throw new Error(`invalid time, expected a format like 2026-01-31T12:00:00.123456Z: ${time}`);
  const fraction = decimals.padEnd(6, "0").slice(0, 6);
  return Math.floor(millis / 1000) * 1_000_000 + Number(fraction);
}
