/** What requests cost servers in CPU time, side by side. */
import { seconds, SHORT_ROUNDS } from "../scale.js";
import type { Load } from "../load/http1.js";
import { median, medianRatio, type Ratio, type Row } from "../report/row.js";
import type { Server } from "../servers/start.js";

const WARM_SECONDS = seconds(2);
const SECONDS = seconds(0.5);

/** Something that is asked of a server. */
export interface Line {
  readonly what: string;
  readonly server: Server;
  readonly load: (url: string, seconds: number) => Promise<Load>;
  /** The costs of one line over those of another, by what they are. */
  readonly ratio?: { readonly of: string; readonly over: string; readonly wanted: Ratio["wanted"] };
  readonly note?: string;
}

/** Measures all lines in each round, one behind the other. */
export async function compare(lines: readonly Line[]): Promise<Row[]> {
  const costs = new Map(lines.map(({ what }): [string, number[]] => [what, []]));
  for (const { server, load } of lines) await load(server.url, WARM_SECONDS);
  for (let round = 0; round < SHORT_ROUNDS; round++) {
    for (const line of lines) costs.get(line.what)?.push(await cost(line));
  }
  return lines.map(({ what, ratio, note = "of CPU for each request" }): Row => {
    const row: Row = { what, figure: { value: median(costs.get(what) ?? []), unit: "µs" }, note };
    if (ratio === undefined) return row;
    const reached = medianRatio(costs.get(ratio.of) ?? [], costs.get(ratio.over) ?? []);
    return { ...row, ratio: { reached, wanted: ratio.wanted } };
  });
}

/** CPU time for each request, in microseconds. */
async function cost({ server, load }: Line): Promise<number> {
  const before = await server.cpu();
  const { requests } = await load(server.url, SECONDS);
  return ((await server.cpu()) - before) / requests;
}
