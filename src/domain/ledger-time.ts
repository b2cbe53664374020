const utcTime = /^\d{4}-\d{2}-(\d{2})T(\d{2}):\d{2}:\d{2}(?:\.(\d{1,9}))?Z$/;

/** A time of the ledger, RFC 3339 in UTC, in microseconds since 1970; finer digits are cut. Throws where it is none. */
export function parseLedgerTime(time: string): number {
  const digits = utcTime.exec(time);
  const millis = digits === null ? Number.NaN : Date.parse(time);
  const [, day, hour, decimals = ""] = digits ?? [];
  // The 30th of February would be read as a day of March.
  if (Number.isNaN(millis) || new Date(millis).getUTCDate() !== Number(day) || hour === "24")
    throw new Error(`a time has to be like 2026-01-31T12:00:00.123456Z, and is ${time}`);
  const fraction = decimals.padEnd(6, "0").slice(0, 6);
  return Math.floor(millis / 1000) * 1_000_000 + Number(fraction);
}
