/** Runs one scenario: ordinary load, an honest caller in quiet, then the attack beside it, then the time after. */
import { setTimeout as delay } from "node:timers/promises";
import { startChild } from "../processes/child.js";
import { LOAD_CORE } from "../processes/pinning.js";
import { withResources } from "../processes/resources.js";
import type { Tally } from "./attackers/attack.js";
import type { AttackerOptions, AttackerQuestion } from "./attackers/process.js";
import type { Figures, PhaseName } from "./honest/figures.js";
import { startHonest } from "./honest/start.js";
import { warmUp } from "./honest/warm-up.js";
import type { AttackOptions } from "./options.js";
import { prepareScenario, type ScenarioName } from "./scenarios.js";
import { type Service, startService } from "./service/start.js";

const QUIET_MS = 3_000;
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 60_000;

export interface ScenarioResult {
  readonly name: ScenarioName;
  /** How the process ended before its time; undefined if it lived. */
  readonly death: string | undefined;
  readonly limit: string;
  /** Resident memory in bytes; `after` is undefined for a process that died. */
  readonly memory: { readonly before: number; readonly peak: number; readonly after: number | undefined };
  readonly peakDescriptors: number;
  readonly honest: Readonly<Record<PhaseName, Figures>>;
  readonly attack: Readonly<Pick<Tally, "opened" | "refused" | "closed" | "requests" | "sentBytes" | "answers">>;
  readonly note: string | undefined;
  readonly logTail: string;
}

export async function runScenario(name: ScenarioName, options: AttackOptions): Promise<ScenarioResult> {
  const { checkout, memoryMiB, seconds, settleSeconds, from } = options;
  return withResources(async (keep) => {
    const { settings, maxDescriptors, token, note } = await prepareScenario(name, checkout, keep);
    const service = await keep(startService({ checkout, memoryMiB, settings, maxDescriptors }));
    await warmUp(service.url, token);
    const honest = await keep(startHonest({ url: service.url, token }));
    await delay(QUIET_MS);
    const before = service.usage()?.rss ?? 0;
    const maxSeconds = seconds + STOP_TIMEOUT_MS / 1000;
    const attacker = await keep(startAttacker({ name, url: service.url, from, maxSeconds }));
    await honest.ask("attack");
    await lapse(service, seconds);
    const attack = (await attacker.ask("stop", STOP_TIMEOUT_MS)) as ScenarioResult["attack"];
    await honest.ask("after");
    await lapse(service, settleSeconds);
    const after = service.usage()?.rss;
    const death = service.death();
    const figures = (await honest.ask("finish")) as ScenarioResult["honest"];
    const { rss: peak, descriptors: peakDescriptors } = service.peaks();
    const memory = { before, peak, after };
    return {
      name,
      death,
      limit: service.limit,
      memory,
      peakDescriptors,
      honest: figures,
      attack,
      note: note?.(),
      logTail: service.logTail(),
    };
  });
}

/** A service that has died needs no further attack. */
async function lapse(service: Service, seconds: number): Promise<void> {
  const ended = new AbortController();
  const time = delay(seconds * 1000, undefined, { signal: ended.signal });
  await Promise.race([time, service.exited]);
  ended.abort();
  await Promise.allSettled([time]);
}

const startAttacker = (options: AttackerOptions) =>
  startChild<AttackerQuestion, unknown>({
    script: new URL("attackers/process.js", import.meta.url),
    core: LOAD_CORE,
    options,
    startTimeoutMs: START_TIMEOUT_MS,
  });
