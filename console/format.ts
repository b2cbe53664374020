/** Values as short texts. */

/** A UUID is shown completely. */
const LONGEST = 40;

/** Shortens the fingerprint of a party, the hash of a contract id, and other long ids. The start tells them apart. */
export function shorten(id: string): string {
  const [, hint = "", fingerprint = ""] = /^(.{1,64})::(.{13,})$/s.exec(id) ?? [];
  if (hint !== "") return `${hint}::${fingerprint.slice(0, 8)}…`;
  if (id.length <= LONGEST) return id;
  return /^[\da-f]+$/i.test(id) ? `${id.slice(0, 12)}…` : `${id.slice(0, LONGEST)}…`;
}

/** A sentence with its fingerprints and contract ids shortened. */
export const shortenIn = (sentence: string): string =>
  sentence.replace(/(::[\da-f]{8})[\da-f]{5,}/gi, "$1…").replace(/\b(00[\da-f]{10})[\da-f]{20,}/gi, "$1…");

/** `2026-06-01 12:00:00`, in UTC. */
export function time(timestamp: string): string {
  const at = new Date(timestamp);
  return Number.isNaN(at.getTime()) ? timestamp : at.toISOString().slice(0, 19).replace("T", " ");
}

/** The clock of a time, for axes. */
export const clock = (timestamp: string): string => time(timestamp).slice(11);

/** The seconds of a duration of proto3 JSON, such as `1.5s`. */
export const seconds = (text: string): number => Number(text.replace(/s$/, ""));

/** `1.2 s`, `5 min`, `3.1 h`. */
export function duration(inSeconds: number): string {
  if (inSeconds < 120) return `${inSeconds < 10 ? inSeconds.toFixed(1) : Math.round(inSeconds)} s`;
  return inSeconds < 7_200 ? `${Math.round(inSeconds / 60)} min` : `${(inSeconds / 3_600).toFixed(1)} h`;
}

const grouped = new Intl.NumberFormat("en");

/** Grouped by thousands. The text of a 64-bit number keeps all its digits. */
export const number = (value: string | number): string => grouped.format(BigInt(value));

/** `1 refusal`, `2 refusals`. */
export const counted = (count: number, label: string): string => `${number(count)} ${label}${count === 1 ? "" : "s"}`;

/** The service and method of an rpc without its package. */
export const shortOperation = (operation: string): string =>
  operation.replace(/^offledger\.([a-z_]+)\.(v\d+)\.\w+\//, (_all, name: string, version: string) => {
    return `${name.replaceAll("_", "-")} ${version} `;
  });
