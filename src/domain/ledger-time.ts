const UTC_TIME = /^\d{4}-\d{2}-(\d{2})T(\d{2}):\d{2}:\d{2}(?:\.(\d{1,9}))?Z$/;

/** Converts an RFC 3339 time in UTC to microseconds since 1970; finer digits are cut. Throws an Error on other text. */
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

/** Microseconds since 1970 as an RFC 3339 time in UTC, with six decimals. */
export function formatLedgerTime(micros: number): string {
  const fraction = String(micros % 1000).padStart(3, "0");
  return new Date(Math.floor(micros / 1000)).toISOString().replace("Z", `${fraction}Z`);
}
