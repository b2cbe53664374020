/** Compares CPU time per request between servers. */
import type { LoadResult } from "../load/http1.js";
import { median, medianOfRatios, type Ratio, type Row } from "../report/row.js";
import { scaleSeconds, SHORT_ROUNDS } from "../scale.js";
import type { Server } from "../servers/start.js";

export const WARM_UP_SECONDS = scaleSeconds(2);
const SECONDS = scaleSeconds(0.5);

export interface CpuCase {
  readonly title: string;
  readonly server: Server;
  readonly load: (url: string, seconds: number) => Promise<LoadResult>;
  /** Divides the CPU time of one case by that of another, both by title. */
  readonly ratio?: { readonly of: string; readonly over: string; readonly target: Ratio["target"] };
  readonly note?: string;
}

export async function compareCpu(cases: readonly CpuCase[]): Promise<Row[]> {
  const costs = new Map(cases.map(({ title }): [string, number[]] => [title, []]));
  for (const { server, load } of cases) await load(server.url, WARM_UP_SECONDS);
  for (let round = 0; round < SHORT_ROUNDS; round++) {
    for (const cpuCase of cases) costs.get(cpuCase.title)?.push(await measureCpu(cpuCase));
  }
  return cases.map(({ title, ratio, note = "CPU per request" }): Row => {
    const row: Row = { title, figure: { value: median(costs.get(title) ?? []), unit: "µs" }, note };
    if (ratio === undefined) return row;
    const value = medianOfRatios(costs.get(ratio.of) ?? [], costs.get(ratio.over) ?? []);
    return { ...row, ratio: { value, target: ratio.target } };
  });
}

export async function measureCpu({ server, load }: Pick<CpuCase, "server" | "load">): Promise<number> {
  const before = await server.cpu();
  const { requests } = await load(server.url, SECONDS);
  return ((await server.cpu()) - before) / requests;
}
