/** The settlement factory in the worst case that every registry has to support, next to bare Fastify. */
import { loadHttp1 } from "../load/http1.js";
import { answersTo } from "../load/single-request.js";
import { settlements } from "../registries/settlements.js";
import { snapshotOf } from "../registries/snapshot.js";
import type { Row } from "../report/row.js";
import { start, stopping } from "../servers/start.js";
import { compare, type Line } from "./cpu.js";
import { inTurn, settlement } from "./requests.js";

const BARE = "bare Fastify, bytes of a settlement";
const OURS = "settlement-factory, 25 legs";
/** The least that has to be disclosed for this to be the worst case. */
const DISCLOSED = 150;

export async function worstSettlement(): Promise<Row[]> {
  return stopping(async (keep) => {
    const { settings } = await keep(snapshotOf(settlements()));
    const ours = await keep(start({ server: "offledger", settings }));
    const requests = settlement();
    const answers = await answersTo(ours.url, requests.slice(0, 2));
    const disclosed = disclosedIn(answers[0] ?? "");
    if (disclosed < DISCLOSED) throw new Error(`a settlement discloses ${disclosed} contracts only`);
    const bare = await keep(start({ server: "fastify", answers }));
    const requestOf = inTurn(requests);
    const load: Line["load"] = (url, seconds) => loadHttp1(url, seconds, requestOf);
    const ratio: Line["ratio"] = { of: BARE, over: OURS, wanted: { atLeast: 0.35 } };
    return compare([
      { what: BARE, server: bare, load },
      { what: OURS, server: ours, load, ratio, note: `of CPU; ${disclosed} contracts disclosed` },
    ]);
  });
}

function disclosedIn(answer: string): number {
  const { choiceContext } = JSON.parse(Buffer.from(answer, "base64").toString()) as {
    choiceContext: { disclosedContracts: unknown[] };
  };
  return choiceContext.disclosedContracts.length;
}
