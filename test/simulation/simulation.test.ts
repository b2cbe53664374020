/**
 * No answer is older than promised, followers are equal at equal positions, streams of changes miss nothing, and what is
 * active in the end is found.
 */
import { describe, expect, test } from "vitest";
import type { FetchedBodies, LogProgress, LogStep, StateLog } from "../../src/state/log.js";
import { describeFailure, run, runAll } from "./run.js";
import { QUIET_START, scriptOf, type Step } from "./script.js";

/** What random scripts have found, in its shortest form. */
const found: readonly [string, readonly Step[]][] = [
  [
    "a dead connection, and another history that ends at the same offset",
    [
      { do: "move", to: "restored", creates: 1 },
      { do: "wait", ms: 70_000 },
    ],
  ],
  [
    "a stuck stream whose next updates are pruned",
    [
      { do: "stream", fault: "silence", streams: "open" },
      { do: "create", what: ["offer"] },
      { do: "create", what: ["offer"] },
      { do: "prune", share: 0.9 },
      { do: "wait", ms: 3_000 },
    ],
  ],
  [
    "a package that was missing, while the search for it is not answered",
    [
      { do: "clear", packages: 1 },
      { do: "create", what: ["offer"] },
      { do: "wait", ms: 3_000 },
      { do: "search", fault: "unanswered", times: 3 },
      { do: "upload" },
      { do: "create", what: ["locked"] },
      { do: "wait", ms: 150_000 },
    ],
  ],
  [
    "a package that is found while a snapshot without it is read",
    [
      { do: "slowSnapshot", ms: 50_000 },
      { do: "clear", packages: 1 },
      { do: "create", what: ["offer"] },
      { do: "wait", ms: 3_000 },
      { do: "upload" },
      { do: "create", what: ["locked"] },
      { do: "wait", ms: 150_000 },
    ],
  ],
  [
    "a log that is restored to a state from before the latest heartbeats",
    [
      { do: "backUpLog" },
      { do: "create", what: ["offer"] },
      { do: "wait", ms: 40_000 },
      { do: "stop" },
      { do: "restoreLog", ms: 1_000 },
      { do: "wait", ms: 30_000 },
    ],
  ],
  [
    "a log that is restored to a state from before its clock was set back",
    [
      { do: "wait", ms: 3_000 },
      { do: "backUpLog" },
      { do: "setClock", hours: -2 },
      { do: "wait", ms: 3_000 },
      { do: "stop" },
      { do: "restore", share: 0.9 },
      { do: "create", what: ["offer"] },
      { do: "wait", ms: 30_000 },
      { do: "restoreLog", ms: 1_000 },
      { do: "wait", ms: 10_000 },
    ],
  ],
];

test.each(found)("holds over %s", async (_, script) => {
  for (let seed = 1; seed <= 10; seed++) {
    const { wrong, logged } = await run([...QUIET_START, ...script], seed);
    expect(wrong, logged.join("\n")).toBeUndefined();
  }
});

const SEEDS = 50;

test(`holds over ${SEEDS} random scripts`, async () => {
  const { failed, counts } = await runAll(1, SEEDS);
  expect(failed.map(describeFailure)).toEqual([]);
  // Everything happens.
  for (const [what, count] of Object.entries(counts)) expect(count, what).toBeGreaterThan(0);
});

test("the seed repeats a run, event by event", async () => {
  const digests: string[] = [];
  for (const seed of [1, 2, 3, 1, 2, 3]) digests.push((await run(scriptOf(seed), seed)).digest);
  expect(digests.slice(3)).toEqual(digests.slice(0, 3));
  expect(new Set(digests).size).toBe(3);
});

describe("is broken within 200 seeds by", () => {
  /** A log with some methods of another. */
  const instead = (log: StateLog, others: Partial<StateLog>): StateLog => ({
    progress: (since) => log.progress(since),
    load: (use, signal, generation) => log.load(use, signal, generation),
    bodies: (ids, generation) => log.bodies(ids, generation),
    listen: (notices, signal) => log.listen(notices, signal),
    requestCatchUp: (id) => log.requestCatchUp(id),
    ...others,
  });
  /** Changes what a follower reads of the log. Each follower that starts gets one of its own. */
  const reading =
    (make: () => (progress: Exclude<LogProgress, "empty">) => LogProgress) =>
    (log: StateLog): StateLog => {
      const change = make();
      return instead(log, {
        progress: async (since) => {
          const progress = await log.progress(since);
          return progress === "empty" ? progress : change(progress);
        },
      });
    };
  const stepping = (make: () => (step: LogStep) => LogStep) =>
    reading(() => {
      const change = make();
      return ({ head, step }) => ({ head, step: step === undefined ? undefined : change(step) });
    });
  const NO_BODY = { payload: "{}", views: "", createdEventBlob: "" };
  /** Changes which bodies a follower gets. */
  const fetching =
    (fetch: (ids: readonly string[], log: StateLog, generation: number) => Promise<FetchedBodies>) =>
    (log: StateLog): StateLog =>
      instead(log, { bodies: (ids, generation) => fetch(ids, log, generation) });
  const isEmpty = ({ archived, active, sums }: LogStep) => archived.length + active.length + sums.length === 0;

  test.each<[string, (log: StateLog) => StateLog]>([
    [
      "an update that a follower applies twice",
      stepping(() => {
        let before: LogStep | undefined;
        return (step) => {
          if (isEmpty(step)) return step;
          const again = before?.active ?? [];
          before = step;
          return { ...step, active: [...step.active, ...again] };
        };
      }),
    ],
    [
      "a follower that skips an offset",
      stepping(() => {
        let steps = 0;
        return (step) => (isEmpty(step) || ++steps % 3 !== 0 ? step : { archived: [], active: [], sums: [] });
      }),
    ],
    [
      "tombstones without the tags of the dead contract",
      stepping(() => (step) => ({ ...step, archived: step.archived.map((one) => ({ ...one, tags: [] })) })),
    ],
    [
      "a follower that goes on by steps in a log that was restored",
      reading(() => {
        const none: LogStep = { archived: [], active: [], sums: [] };
        let isLoaded = false;
        return ({ head, step }) => {
          if (step === undefined && isLoaded) return { head, step: none };
          isLoaded = true;
          return { head, step };
        };
      }),
    ],
    [
      "a mirror that is believed to be current whenever it writes a heartbeat",
      reading(() => ({ head, step }) => {
        const { heartbeat } = head;
        return { head: { ...head, heartbeat: heartbeat && { ...heartbeat, confirmedAt: heartbeat.writtenAt } }, step };
      }),
    ],
    [
      "a follower that never loads again",
      reading(() => {
        let loads = 0;
        return ({ head, step }) => {
          if (step === undefined && ++loads > 1) throw new Error("not again");
          return { head, step };
        };
      }),
    ],
    [
      "bodies of other contracts",
      fetching(async (ids, log, generation) => {
        const { head, bodies } = await log.bodies(ids, generation);
        const others = [...bodies.values()].toReversed();
        return { head, bodies: new Map([...bodies.keys()].map((id, index) => [id, others[index] ?? NO_BODY])) };
      }),
    ],
    [
      "a log that loses a body",
      fetching(async (ids, log, generation) => {
        const { head, bodies } = await log.bodies(ids, generation);
        return { head, bodies: new Map([...bodies].slice(1)) };
      }),
    ],
  ])("%s", async (_, readLog) => {
    const { failed, ran } = await runAll(1, 200, { readLog }, 1);
    expect(ran).toBeLessThanOrEqual(200);
    expect(failed).toHaveLength(1);
  });
});
