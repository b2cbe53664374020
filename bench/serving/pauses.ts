/** Pauses of the event loop while updates are applied and requests are answered. */
import { loadHttp1 } from "../load/http1.js";
import { startScripted } from "../participants/start.js";
import { withResources } from "../processes/resources.js";
import { FIXED_CONTRACTS } from "../registries/transfers.js";
import { median, type Row } from "../report/row.js";
import { ROUNDS, scaleCount, scaleSeconds } from "../scale.js";
import { LARGE_SEMI_SPACE_MB, startServer } from "../servers/start.js";
import type { LoopDelay } from "../servers/target.js";
import { pollUntil } from "../wait.js";
import { isOfferServed } from "./is-offer-served.js";
import { encodeAccept } from "./requests.js";

const CONTRACTS = scaleCount(100_000);
const RATE = 1_000;
const WARM_UP_SECONDS = scaleSeconds(3);
const SECONDS = scaleSeconds(10);
/** Rounds are long; three tell a recurring pause from one of the machine. */
const PAUSE_ROUNDS = Math.min(ROUNDS, 3);
const APPLY_TIMEOUT_MS = 30_000;

export async function measurePauses(): Promise<Row[]> {
  return withResources(async (keep) => {
    const offers = Math.ceil((CONTRACTS - FIXED_CONTRACTS) / 2);
    const participant = await keep(startScripted({ offers }));
    const server = await keep(
      startServer({ server: "offledger", settings: participant.settings }, { semiSpaceMegabytes: LARGE_SEMI_SPACE_MB }),
    );
    let count = 0;
    const load = (seconds: number) =>
      loadHttp1(server.url, seconds, () => encodeAccept((count++ * 7_919) % offers, count % 2 === 1));
    await Promise.all([participant.trickle({ rate: RATE, seconds: WARM_UP_SECONDS }), load(WARM_UP_SECONDS)]);
    const rounds: (LoopDelay & { readonly throughput: number })[] = [];
    for (let round = 0; round < PAUSE_ROUNDS; round++) {
      await server.watch();
      const trickling = participant.trickle({ rate: RATE, seconds: SECONDS });
      const [lastOffer, { requests, seconds }] = await Promise.all([trickling, load(SECONDS)]);
      rounds.push({ ...(await server.loopDelay()), throughput: requests / seconds });
      await pollUntil(APPLY_TIMEOUT_MS, "the last update is served", () => isOfferServed(server.url, lastOffer));
    }
    const all = (name: keyof (typeof rounds)[number]) => rounds.map((round) => round[name]);
    const longest = median(all("max"));
    const worst = Math.max(...all("max")).toFixed(1);
    const conditions = `${RATE} updates/s and ${Math.round(median(all("throughput")))} requests/s`;
    return [
      {
        title: "event loop: longest pause",
        figure: { value: longest, unit: "ms" },
        ratio: { value: longest, target: { atMost: 50 } },
        note: `in ${SECONDS} s of ${conditions}; ${worst} ms in the worst of ${PAUSE_ROUNDS} rounds`,
      },
      {
        title: "event loop: longest pause, CPU time",
        figure: { value: median(all("maxCpu")), unit: "ms" },
        note: "not affected by other processes",
      },
      { title: "event loop: delay, p99.9", figure: { value: median(all("p999")), unit: "ms" } },
    ];
  });
}
