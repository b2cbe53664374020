/**
 * A minute of changes, faults of the participant, callers and clients that leave: every answer is of a state that the ledger had,
 * requests are refused for a time at most, and memory ends where it was after the warm-up. Needs `npm run build`.
 */
import { once } from "node:events";
import net from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { BuiltService } from "../fixtures/built-service.js";
import { parties } from "../fixtures/elements.js";
import { until } from "../fixtures/wait.js";
import type { Faults } from "../scripted-participant/faults.js";
import { Participant } from "../scripted-participant/participant.js";
import { Pairs } from "./database/pairs.js";
import { askAny, askConfigurations, Caller } from "./database/queries.js";
import { Random } from "./database/random.js";
import { inBackground } from "./database/services.js";

const SECONDS = 60;
const WARM_UP_SECONDS = 20;
const SEED = Number(process.env["OFFLEDGER_TEST_SEED"] ?? 20_261_128);
const MAX_GROWTH = 24 * 1024 * 1024;
const CALLERS = 4;

const FAULTS: readonly ((faults: Faults) => void)[] = [
  (faults) => faults.cut(),
  (faults) => faults.cut({ reset: true, after: 5 }),
  (faults) => faults.error("SERVER_IS_SHUTTING_DOWN"),
  (faults) => faults.halfJson(),
  (faults) => faults.halfFrame(),
  (faults) => faults.duplicate(5),
  (faults) => faults.delay(20, { times: 2 }),
  (faults) => faults.silence({ answersPings: false }),
  (faults) => faults.refuse(503, { times: 3 }),
  (faults) => faults.proxyError({ times: 2 }),
  (faults) => faults.hangUp({ times: 2 }),
];

/** Leaves in the middle of a request, or before it has read what it has asked for. */
async function leave(url: string, random: Random): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname).on("error", () => undefined);
  await once(socket, "connect");
  const text = `GET /api/utilities/v0/operator HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(50);
  socket.pause().write(text.slice(0, random.below(text.length)));
  await pause(random.below(2_000));
  socket.resetAndDestroy();
}

test("holds, in memory", { timeout: (SECONDS + 120) * 1_000 }, async () => {
  const random = new Random(SEED);
  const pairs = new Pairs(1_000);
  const participant = await Participant.start({ ledger: pairs.ledger, checkpointMs: 20 });
  onTestFinished(() => participant.stop());
  const service = await BuiltService.start({
    settings: {
      OFFLEDGER_LEDGER_URL: participant.url,
      OFFLEDGER_LEDGER_PARTIES: parties.operator,
      OFFLEDGER_TOTAL_SUPPLY: "true",
    },
  });
  onTestFinished(() => service.kill());
  const { url } = service;
  await until("the service is ready", () => service.isReady());

  const caller = new Caller();
  let faults = 0;
  const background = inBackground(
    (signal) => pairs.keepChanging(new Random(SEED + 1), 20, signal),
    async (signal) => {
      while (!signal.aborted) {
        await pause(random.below(4_000));
        const kind = random.below(FAULTS.length + 2);
        if (kind < FAULTS.length) FAULTS[kind]?.(participant.faults);
        else if (kind === FAULTS.length) pairs.prune();
        else pairs.restore(5 + random.below(20));
        // New streams have the fault.
        if (participant.streams > 0) participant.faults.cut({ streams: "open" });
        faults++;
      }
    },
    ...Array.from({ length: CALLERS }, (_, index) => (signal: AbortSignal) => {
      const queries = new Random(SEED + 2 + index);
      return caller.keepAsking(signal, async () => caller.note(await askAny(url, pairs, queries), [200, 503]));
    }),
    async (signal) => {
      while (!signal.aborted) await Promise.all(Array.from({ length: 10 }, () => leave(url, random)));
    },
  );
  await pause(WARM_UP_SECONDS * 1_000);
  const before = await service.usage();
  await pause((SECONDS - WARM_UP_SECONDS) * 1_000);
  await background.end();
  participant.faults.clear();
  const { tags } = pairs.replace(0);
  await until("the last update is served", async () => {
    const shown = await askConfigurations(url, pairs);
    return shown.tags?.join() === tags.join();
  });
  const after = await service.usage();
  console.log(`seed ${SEED}: ${faults} faults, ${pairs.ledger.end} updates, ${JSON.stringify(caller.statuses)}`);
  expect(caller.wrong).toEqual([]);
  expect(caller.statuses[200]).toBeGreaterThan(100 * CALLERS);
  expect(faults).toBeGreaterThan(SECONDS / 6);
  expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(MAX_GROWTH);
  expect(await service.stop()).toBeUndefined();
  // Those of a kind are about the participant.
  expect(service.errorLines.filter((line) => !line.includes('"kind":'))).toEqual([]);
});
