/** How long the event loop stands still while the ledger moves and requests are answered. */
import { ROUNDS, seconds, size } from "../scale.js";
import { loadHttp1 } from "../load/http1.js";
import { startScripted } from "../participants/start.js";
import { BESIDES } from "../registries/transfers.js";
import { median, type Row } from "../report/row.js";
import { LARGE_YOUNG_MB, start, stopping } from "../servers/start.js";
import type { Pauses } from "../servers/target.js";
import { reached } from "../wait.js";
import { accept } from "./requests.js";

const CONTRACTS = size(100_000);
const RATE = 1_000;
const WARM_SECONDS = seconds(3);
const SECONDS = seconds(10);
/** A round takes long, and these are enough to tell a pause that comes again from one that was the machine's. */
const TIMES = Math.min(ROUNDS, 3);
const APPLIED_MS = 30_000;

export async function pauses(): Promise<Row[]> {
  return stopping(async (keep) => {
    const offers = Math.ceil((CONTRACTS - BESIDES) / 2);
    const participant = await keep(startScripted({ offers }));
    const server = await keep(start({ server: "offledger", settings: participant.settings }, LARGE_YOUNG_MB));
    let asked = 0;
    const load = (time: number) =>
      loadHttp1(server.url, time, () => accept((asked++ * 7_919) % offers, asked % 2 === 1));
    await Promise.all([participant.trickle({ rate: RATE, seconds: WARM_SECONDS }), load(WARM_SECONDS)]);
    const rounds: (Pauses & { readonly answered: number })[] = [];
    for (let round = 0; round < TIMES; round++) {
      await server.watch();
      const trickling = participant.trickle({ rate: RATE, seconds: SECONDS });
      const [last, { requests, seconds: took }] = await Promise.all([trickling, load(SECONDS)]);
      rounds.push({ ...(await server.pauses()), answered: requests / took });
      await reached(APPLIED_MS, "the last update", () => isServed(server.url, last));
    }
    const all = (name: keyof (typeof rounds)[number]) => rounds.map((round) => round[name]);
    const longest = median(all("longest"));
    const worst = Math.max(...all("longest")).toFixed(1);
    const during = `${RATE} updates/s and ${Math.round(median(all("answered")))} requests/s`;
    return [
      {
        what: "longest pause of the event loop",
        figure: { value: longest, unit: "ms" },
        ratio: { reached: longest, wanted: { atMost: 50 } },
        note: `in ${SECONDS} s of ${during}; the worst of ${TIMES} rounds ${worst} ms`,
      },
      {
        what: "the same in CPU time",
        figure: { value: median(all("longestCpu")), unit: "ms" },
        note: "which neighbours of the machine do not lengthen",
      },
      { what: "99.9th percentile of turns of the loop", figure: { value: median(all("p999")), unit: "ms" } },
    ];
  });
}

async function isServed(url: string, offer: number): Promise<boolean> {
  const request = accept(offer, true).toString();
  const path = request.split(" ", 2)[1] ?? "";
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  await response.arrayBuffer();
  return response.status === 200;
}
