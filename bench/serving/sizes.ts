/** The sizes of responses, for the notes of rows. */
import type { Row } from "../report/row.js";
import { recordResponses, type Workload } from "./workloads.js";

export const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(1);

/** Of the responses with and without debug fields, in base64. */
export function formatSizes([debug = "", plain = ""]: readonly string[]): string {
  const [first, second] = [debug, plain].map((body) => kilobytes(Buffer.byteLength(body, "base64")));
  return `${first} and ${second} KB`;
}

/** Notes in a row what compression saves, after the load: contracts are compressed one after the other. */
export async function noteSizes(
  rows: readonly Row[],
  title: string,
  url: string,
  plain: Workload,
  compressed: Workload,
): Promise<Row[]> {
  const [before, after] = [await recordResponses(url, plain), await recordResponses(url, compressed)];
  const note = `CPU per request; responses of ${formatSizes(after)} instead of ${formatSizes(before)}`;
  return rows.map((row) => (row.title === title ? { ...row, note } : row));
}
