/** When the stream of changes ends, is silent or begins again, responses are not used until it has caught up. */
import { setFlagsFromString } from "node:v8";
import { setTimeout as delay } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { Code } from "@connectrpc/connect";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { TransferInstructionService } from "../../../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
import { startCuttableProxy } from "../../fixtures/cuttable-proxy.js";
import { gate, until } from "../../fixtures/wait.js";
import { createClock } from "../../../packages/client/src/cache/clock.js";
import {
  createLedger,
  handled,
  openRegistry,
  replaceFactory,
  startService,
  type TestRegistryOptions,
  transfer,
} from "./cached-service.js";

/** The stream goes through a proxy; calls go to the service. */
async function open(options: TestRegistryOptions = {}) {
  const ledger = createLedger();
  const service = await startService(ledger);
  onTestFinished(() => service.close());
  const proxy = await startCuttableProxy(service.url);
  onTestFinished(() => proxy.close());
  const registry = await openRegistry(service.url, { streamUrl: proxy.url, ...options });
  onTestFinished(() => registry.close());
  const transfers = registry.client(TransferInstructionService);
  const askFor = async (sender: string) => (await transfers.getTransferFactory(transfer(sender, "bob"))).factoryId;
  return { ledger, service, proxy, registry, ask: () => askFor("alice"), askOther: () => askFor("carol") };
}

test("without its stream it asks the service; a resumed stream drops only what has changed in the meantime", async () => {
  const { ledger, proxy, registry, ask, askOther } = await open();
  await ask();
  proxy.cut();
  await until("the stream has ended", () => registry.disconnects.length > 0);
  expect(registry.isLive).toBe(false);
  expect(await askOther()).toBe("factory");
  expect(registry.statistics()).toMatchObject({ hits: 0, misses: 2 });
  proxy.restore();
  await until("the stream has resumed", () => registry.events.length === 2);
  expect(registry.events.map(({ event }) => event.case)).toEqual(["reset", "heartbeat"]);
  // What was kept is used again, but not a response that arrived without a stream.
  await ask();
  expect(registry.statistics()).toMatchObject({ hits: 1, misses: 2 });
  await askOther();
  await askOther();
  expect(registry.statistics()).toMatchObject({ hits: 2, misses: 3, notModified: 1 });

  proxy.cut();
  await until("the stream has ended again", () => registry.disconnects.length > 1);
  replaceFactory(ledger, "factory", "second factory");
  proxy.restore();
  await handled(registry, ledger);
  expect(await ask()).toBe("second factory");
  expect(registry.statistics()).toMatchObject({ droppedByChanges: 2, resets: 1 });
  expect(registry.opened[0]).toBe("");
  expect(new Set(registry.opened.slice(1)).has("")).toBe(false);
});

test("a stream that is silent for too long is replaced, and its events are not trusted", async () => {
  let passed = 0;
  const { ledger, registry, ask } = await open({ clock: () => performance.now() + passed });
  await ask();
  passed = 24_000;
  await ask();
  expect(registry.statistics()).toMatchObject({ hits: 1, misses: 1 });
  passed = 26_000;
  expect(await ask()).toBe("factory");
  expect(registry.statistics()).toMatchObject({ hits: 1, misses: 2 });
  replaceFactory(ledger, "factory", "second factory");
  await until("another stream is open", () => registry.opened.length === 2);
  expect(registry.disconnects.map(({ code }) => code)).toEqual([Code.DeadlineExceeded]);
  await handled(registry, ledger, 2);
  expect(await ask()).toBe("second factory");
  expect(await ask()).toBe("second factory");
  expect(registry.statistics()).toMatchObject({ hits: 2, misses: 3, resets: 1 });
});

test("a connection on which nothing arrives any longer is closed, and another is opened", async () => {
  const { service, proxy, registry, ask } = await open({ maxSilenceMs: 1_000 });
  proxy.freeze();
  await until("another stream is open", () => registry.opened.length === 2 && registry.events.length === 2);
  expect(registry.disconnects.map(({ code }) => code)).toEqual([Code.DeadlineExceeded]);
  expect(await ask()).toBe("factory");
  await until("the first stream is closed", async () => (await service.openStreams()) === 1);
});

test("after a restore of the participant from a backup all responses are dropped, and late ones not kept", async () => {
  const held = gate();
  let isHeld = false;
  const beforeResponse = async () => (isHeld ? held.opened : undefined);
  const { ledger, registry, ask, askOther } = await open({ beforeResponse });
  replaceFactory(ledger, "factory", "second factory");
  await handled(registry, ledger);
  expect(await ask()).toBe("second factory");
  isHeld = true;
  const late = askOther();
  await until("the service has answered", () => registry.arrived === 2);
  isHeld = false;
  ledger.restore(9);
  await until("the state is replaced", () => registry.statistics().resets === 2);
  held.open();
  expect(await late).toBe("second factory");
  expect(await ask()).toBe("factory");
  expect(await askOther()).toBe("factory");
  expect(new Set(registry.events.map(({ generation }) => generation)).size).toBe(2);
});

test("closing ends the stream, also after the garbage collector has run", async () => {
  const { service, registry } = await open();
  expect(await service.openStreams()).toBe(1);
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let round = 0; round < 5; round++) {
    await delay(20);
    collect();
  }
  await registry.close();
  await until("the service has no streams", async () => (await service.openStreams()) === 0);
  expect(registry.disconnects).toEqual([]);
});

afterEach(() => vi.restoreAllMocks());

/** A sleeping computer cannot be tested: sets what the two clocks of the system show after it. */
function setClocks(monotonic: number, wall: number): void {
  vi.spyOn(performance, "now").mockReturnValue(monotonic);
  vi.spyOn(Date, "now").mockReturnValue(wall);
}

test.each([
  ["the wall clock has gone ahead in sleep", [1_100, 1_060_100], 60_100],
  ["the wall clock was set back", [1_100, 940_000], 100],
  // The wall clock is rounded to milliseconds.
  [
    "small steps of the wall clock do not add up",
    Array.from({ length: 2_000 }, (_, at) => 1_000 + at / 10).flatMap((ms) => [ms, 999_000 + Math.round(ms)]),
    199.9,
  ],
])("the clock of a cache is monotonic: %s", (_what, shown, elapsed) => {
  setClocks(1_000, 1_000_000);
  const clock = createClock();
  const before = clock();
  for (let at = 0; at < shown.length; at += 2) {
    setClocks(shown[at] ?? 0, shown[at + 1] ?? 0);
    clock();
  }
  expect(clock() - before).toBeCloseTo(elapsed, 6);
});
