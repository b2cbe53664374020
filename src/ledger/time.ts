const form = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.(\d{1,9}))?Z$/;

/** A time of the ledger, RFC 3339 in UTC, in microseconds since 1970; finer digits are cut. */
export function micros(time: string): number {
  const digits = form.exec(time);
  const millis = digits === null ? Number.NaN : Date.parse(time);
  if (Number.isNaN(millis)) throw new Error(`a time has to be like 2026-01-31T12:00:00.123456Z, and is ${time}`);
  const fraction = (digits?.[1] ?? "").padEnd(6, "0").slice(0, 6);
  return Math.floor(millis / 1000) * 1_000_000 + Number(fraction);
}
