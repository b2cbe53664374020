/** What becomes of those who are answered, and of those who are not, at three times what the service can answer. */
import { ROUNDS, seconds } from "../scale.js";
import { loadHttp1 } from "../load/http1.js";
import { overload, type Overload } from "../load/overload.js";
import { settlements } from "../registries/settlements.js";
import { snapshotOf } from "../registries/snapshot.js";
import { median, medianRatio, percentile, type Row } from "../report/row.js";
import { start, stopping } from "../servers/start.js";
import { DEFAULT_MIDDLEWARE } from "../../src/transport/middleware/middleware.js";
import { inTurn, settlement } from "./requests.js";

const WARM_SECONDS = seconds(3);
const SECONDS = seconds(3);
const TIMES = 3;
/** Until it counts as one, an overload is a burst, which is worked off. */
const BURST_SECONDS = seconds(2);

export async function overloaded(): Promise<Row[]> {
  return stopping(async (keep) => {
    const { settings } = await keep(snapshotOf(settlements()));
    const requestOf = inTurn(settlement());
    const shedding = await keep(
      start({
        server: "offledger",
        settings: { ...settings, OFFLEDGER_MAX_DELAY_MS: String(DEFAULT_MIDDLEWARE.maxDelayMs) },
      }),
    );
    const patient = await keep(start({ server: "offledger", settings: { ...settings, OFFLEDGER_MAX_DELAY_MS: "0" } }));
    await loadHttp1(patient.url, 2 * WARM_SECONDS, requestOf);
    const top = await loadHttp1(patient.url, WARM_SECONDS, requestOf);
    const rate = top.requests / top.seconds;
    await overload(shedding.url, rate / 2, WARM_SECONDS, requestOf);
    const [calm, burst, shed, all]: [Overload[], Overload[], Overload[], Overload[]] = [[], [], [], []];
    for (let round = 0; round < ROUNDS; round++) {
      calm.push(await overload(shedding.url, rate / 2, SECONDS, requestOf));
      burst.push(await overload(shedding.url, rate * TIMES, 1, requestOf));
      shed.push(await overload(shedding.url, rate * TIMES, SECONDS, requestOf, BURST_SECONDS));
      all.push(await overload(patient.url, rate * TIMES, SECONDS, requestOf, BURST_SECONDS));
    }
    return [
      {
        what: "half of the most, 99th percentile",
        figure: { value: median(ms(calm, "answered")), unit: "ms" },
        note: `${perSecond(calm, "answered")} settlements/s; the most are ${Math.round(rate)}`,
      },
      {
        what: "three times the most, 99th percentile",
        figure: { value: median(ms(shed, "answered")), unit: "ms" },
        ratio: { reached: medianRatio(ms(shed, "answered"), ms(calm, "answered")), wanted: { atMost: 2 } },
        note: `${perSecond(shed, "answered")} settlements/s answered, ${perSecond(shed, "refused")} refused`,
      },
      {
        what: "the same of the refusals",
        figure: { value: median(ms(shed, "refused")), unit: "ms" },
      },
      {
        what: "answers of its first second",
        figure: { value: median(ms(burst, "answered")), unit: "ms" },
        ratio: { reached: medianRatio(ms(burst, "answered"), ms(calm, "answered")), wanted: undefined },
        note: `${perSecond(burst, "answered")} settlements/s answered, ${perSecond(burst, "refused")} refused`,
      },
      {
        what: "the same where nothing is refused",
        figure: { value: median(ms(all, "answered")), unit: "ms" },
        ratio: { reached: medianRatio(ms(all, "answered"), ms(calm, "answered")), wanted: undefined },
        note: `${perSecond(all, "answered")} settlements/s answered, with at most 1,000 callers waiting`,
      },
    ];
  });
}

type What = "answered" | "refused";
const ms = (rounds: readonly Overload[], of: What) => rounds.map((round) => percentile(round[of], 0.99));
const perSecond = (rounds: readonly Overload[], of: What) =>
  Math.round(median(rounds.map((round) => round[of].length / round.seconds)));
