/** Requests whose responses the client has, which are answered with an empty message. */
import { withHeader } from "../load/connection.js";
import { type LoadResult, loadHttp1 } from "../load/http1.js";
import { fetchResponse } from "../load/single-request.js";
import type { Server } from "../servers/start.js";
import type { CpuCase } from "./cpu.js";
import { cycle } from "./requests.js";
import type { Workload } from "./workloads.js";

const FETCHES_AT_ONCE = 50;

/** A workload with the entity tag of each response. The ratio is that to the full response, the case `full`. */
export async function notModifiedCase(
  title: string,
  server: Server,
  workload: Workload,
  full: string,
): Promise<CpuCase> {
  const load = await conditionalLoad(server.url, workload);
  return { title, server, load, ratio: { of: title, over: full, target: undefined } };
}

async function conditionalLoad(url: string, { requests }: Workload): Promise<Workload["load"]> {
  const conditional: Buffer[] = [];
  for (let at = 0; at < requests.length; at += FETCHES_AT_ONCE) {
    const some = requests.slice(at, at + FETCHES_AT_ONCE);
    conditional.push(...(await Promise.all(some.map((request) => withCondition(url, request)))));
  }
  const requestAt = cycle(conditional);
  return (target, seconds): Promise<LoadResult> => loadHttp1(target, seconds, requestAt);
}

async function withCondition(url: string, request: Buffer): Promise<Buffer> {
  const { head } = await fetchResponse(url, withHeader(request, "Offledger-If-None-Match:"));
  const [, etag] = /^etag: (.+)$/im.exec(head) ?? [];
  if (etag === undefined) throw new Error(`the response has no ETag: ${head}`);
  return withHeader(request, `Offledger-If-None-Match: ${etag}`);
}
