/** After any script of changes, and of faults of real connections, the store equals the ledger. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { bodyOf } from "../../../src/domain/contract.js";
import { NotReady } from "../../../src/state/port.js";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Participant } from "../../scripted-participant/participant.js";
import { Random } from "../database/random.js";
import { participantOn, type RunningMirror, startMirror } from "./run-mirror.js";
import { attempt, isStored, scriptOf, settle, take } from "../../simulation/script.js";

const SCRIPTS = 200;
const FIRST = Number(process.env["OFFLEDGER_TEST_SEED"] ?? 1);
/** How long the store may take to equal the ledger once the faults are over. */
const SETTLE_MS = 15_000;

/** Breaks the open stream of updates, or the next one if none is open, after some messages. Or other requests. */
function breakIt({ faults }: Participant, random: Random): void {
  const after = random.below(4);
  const when = { after, path: "/v2/updates" } as const;
  const stream = (given: (when: { after: number; path: "/v2/updates"; streams: "open" | "next" }) => void) => () => {
    if (!attempt(() => given({ ...when, streams: "open" }))) given({ ...when, streams: "next" });
  };
  random.of([
    stream((one) => faults.cut(one)),
    stream((one) => faults.cut({ ...one, reset: true })),
    stream((one) => faults.halfFrame(one)),
    stream((one) => faults.halfJson(one)),
    stream((one) => faults.silence(one)),
    stream((one) => faults.silence({ ...one, answersPings: false })),
    stream((one) => faults.error("SERVER_IS_SHUTTING_DOWN", one)),
    stream((one) => faults.close(one)),
    () => faults.duplicate(after + 1),
    () => faults.refuse(after % 2 === 0 ? 503 : 429, { times: after + 1 }),
    () => faults.proxyError({ times: after + 1 }),
    () => faults.hangUp({ times: after + 1 }),
    () => faults.delay(5),
    () => faults.cut({ after, path: "/v2/state/active-contracts" }),
  ])();
}

test(
  `holds over ${SCRIPTS} random scripts`,
  async () => {
    for (let seed = FIRST; seed < FIRST + SCRIPTS; seed++) await expect(holds(seed)).resolves.toBeUndefined();
  },
  10 * 60_000,
);

async function holds(seed: number): Promise<void> {
  const random = new Random(seed);
  const ledger = new ScriptedLedger();
  let participant = await Participant.start({ ledger, checkpointMs: 20 });
  const mirror = startMirror(participant.url);
  try {
    for (const step of scriptOf(seed)) {
      switch (step.do) {
        case "stop":
          await participant.stop();
          participant = await participantOn({ ledger, port: participant.port, checkpointMs: 20 });
          break;
        case "wait":
          await delay(Math.min(step.ms, random.below(16)));
          break;
        case "call":
        case "stream":
          breakIt(participant, random);
          break;
        case "create":
        case "archive":
        case "unassign":
        case "assign":
        case "assignEarly":
        case "unassignLate":
        case "checkpoint":
        case "elsewhere":
        case "prune":
        case "restore":
          take(ledger, step);
          break;
        default:
        // Those of virtual time.
      }
    }
    participant.faults.clear();
    settle(ledger);
    await equals(mirror, ledger, seed);
  } finally {
    await mirror.stop();
    await participant.stop();
  }
}

async function equals(mirror: RunningMirror, ledger: ScriptedLedger, seed: number): Promise<void> {
  const until = Date.now() + SETTLE_MS;
  for (;;) {
    try {
      expect(await stateOf(mirror)).toEqual(truthOf(ledger));
      expect(mirror.lag.status.offset).toBeGreaterThanOrEqual(ledger.end);
      return;
    } catch (error) {
      if (Date.now() > until)
        throw new Error(`seed ${seed}: ${String(error)}\n${mirror.logged.join("\n")}`, { cause: error });
      await delay(5);
    }
  }
}

async function stateOf(mirror: RunningMirror): Promise<unknown> {
  try {
    const held = [...(await mirror.held()).values()];
    return new Map(
      held.map((one) => [
        one.contractId,
        { ...common({ ...one, ...bodyOf(one) }), payload: JSON.parse(bodyOf(one).payload) as unknown },
      ]),
    );
  } catch (error) {
    if (error instanceof NotReady) return "no snapshot yet";
    throw error;
  }
}

const truthOf = ({ contracts }: ScriptedLedger): unknown =>
  new Map(
    [...contracts.values()]
      .filter(({ contractId }) => isStored(contractId))
      .map((one) => [one.contractId, { ...common(one), payload: one.payload }]),
  );

const FIELDS = ["templateId", "createdEventBlob", "createdAt", "synchronizerId", "reassignmentCounter"] as const;
const common = (one: { readonly [field in (typeof FIELDS)[number]]: unknown }) =>
  Object.fromEntries(FIELDS.map((field) => [field, one[field]]));
