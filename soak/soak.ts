/** The service under load, with changes, cuts and slow clients together; each answer checked against a model. */
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { Random } from "../test/ingest/database/random.js";
import { parties } from "../test/fixtures/elements.js";
import { until } from "../test/fixtures/wait.js";
import { Participant } from "../scripted-participant/participant.js";
import { Changes } from "./changes.js";
import { Cuts } from "./cuts.js";
import { Load } from "./load.js";
import { measure } from "./measuring.js";
import { growthOf, type Memory } from "./memory.js";
import { Judge } from "./model/judge.js";
import { anyQuestion } from "./model/queries.js";
import { Troubles } from "./model/faults.js";
import { World } from "./model/world.js";
import { Network } from "./network.js";
import type { SoakOptions } from "./options.js";
import type { Report } from "./report.js";
import { Service } from "./service.js";
import { SlowClients } from "./slow/clients.js";

/** Answers may be 15 s old at most, so that a silence that is longer has requests refused. */
const promised = { staleMs: 15_000, readWaitMs: 5_000 };
const READY_MS = 30_000;

/** Runs until its time is over, or the signal is aborted. Nothing is left running. */
export async function soak(options: SoakOptions, signal: AbortSignal): Promise<Report> {
  const begun = performance.now();
  const random = (which: number) => new Random(options.seed + which);
  const world = new World(options.isMistaken);
  const changes = new Changes(world, random(1));
  const participant = await Participant.start({ ledger: world.ledger, checkpointMs: 100 });
  const network = await Network.to(participant.url);
  const troubles = new Troubles();
  const judge = new Judge(world, troubles, promised);
  const load = new Load(world, judge, random(2));
  const { longestSilenceMs: longestMs, cutEveryMs: everyMs } = options;
  const cuts = new Cuts({ world, participant, network, troubles, random: random(3), everyMs, longestMs });
  const samples: Memory[] = [];
  const found: string[] = [];
  let service: Service | undefined;
  let slowClients: SlowClients | undefined;
  const end = new AbortController();
  const over = AbortSignal.any([signal, end.signal]);
  setMaxListeners(0, over);
  try {
    service = await Service.start({
      PORT: 0,
      LEDGER_URL: network.url,
      LEDGER_PARTIES: parties.operator,
      READ_WAIT_MS: promised.readWaitMs,
      UNREADY_SECONDS: 5,
      STALE_SECONDS: promised.staleMs / 1_000,
      // To collect garbage for a sample takes longer than requests are held up for otherwise.
      MAX_DELAY_MS: 0,
    });
    const { url } = service;
    await until("the service is ready", async () => (await fetch(`${url}/readyz`)).ok, READY_MS);
    const question = () => anyQuestion(world, asking);
    const asking = random(4);
    const note = load.note.bind(load);
    slowClients = new SlowClients({ url, random: random(5), judge, question, note, signal: over });
    const running = [
      load.run(url, options.rate, over),
      changes.run(over),
      cuts.run(over),
      slowClients.run(),
      measure({ service, options, cuts, changes, samples, begun, signal: over }),
    ];
    const all = Promise.all(running);
    const time = delay(options.milliseconds, undefined, { signal: over }).catch(() => undefined);
    try {
      // What fails ends it before its time.
      await Promise.race([all, time]);
    } finally {
      end.abort();
      await Promise.allSettled(running);
    }
    await all;
  } catch (error) {
    found.push(String(error));
  } finally {
    end.abort();
    const ending = await service?.stop();
    if (ending !== undefined) found.push(ending);
    await network.close();
    await participant.stop();
  }
  return {
    seed: options.seed,
    seconds: (performance.now() - begun) / 1_000,
    requests: load.byProtocol,
    answers: load.byStatus,
    changes: changes.counts,
    cuts: cuts.counts,
    slowClients: slowClients?.counts ?? {},
    contracts: world.ledger.contracts.size,
    wrongs: load.wrongs,
    wrong: load.wrong,
    medianMs: load.latencies.percentile(0.5),
    percentile99Ms: load.latencies.percentile(0.99),
    growth: growthOf(samples),
    troubles: found,
    log: service?.log ?? [],
    isCutShort: signal.aborted,
  };
}
