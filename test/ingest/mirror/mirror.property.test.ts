/** After any script of changes and faults, the store equals the ledger. */
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { NotReady } from "../../../src/store/port.js";
import { payload } from "../../fixtures/elements.js";
import { type Creation, ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Participant } from "../../scripted-participant/participant.js";
import { type RunningMirror, startMirror, operator, participantOn } from "./run-mirror.js";

const SCRIPTS = 400;
/** How long the store may take to equal the ledger once the faults are over. */
const SETTLE_MS = 15_000;

const app = "utility-registry-app-v0";
/** Contracts of templates that are stored, of one that is dropped, and of one that is not requested. */
const templates = {
  factory: [app, "Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory", payload.service()],
  offer: [app, "Utility.Registry.App.V0.Model.Transfer:TransferOffer", payload.offer("alice", "bob", "USD", "locked")],
  locked: [
    "utility-registry-holding-v0",
    "Utility.Registry.Holding.V0.Holding:Holding",
    payload.lockedHolding("alice", "USD"),
  ],
  free: [
    "utility-registry-holding-v0",
    "Utility.Registry.Holding.V0.Holding:Holding",
    payload.lockedHolding("alice", "USD", { lock: null }),
  ],
  other: ["other-package", "Some.Other:Thing", {}],
} as const;
const kept = new Set<string>(["factory", "offer", "locked"]);

type Step =
  | { readonly do: "create"; readonly what: (keyof typeof templates)[]; readonly seen: boolean }
  | { readonly do: "archive" | "unassign" | "assign" | "assignEarly" | "unassignLate"; readonly which: number }
  | { readonly do: "checkpoint" | "elsewhere" }
  | { readonly do: "restart" }
  | { readonly do: "prune" | "restore"; readonly share: number }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "fault"; readonly fault: (typeof faults)[number]; readonly after: number };

const faults = [
  "cut",
  "reset",
  "duplicate",
  "halfFrame",
  "halfJson",
  "silence",
  "deaf",
  "error",
  "close",
  "refuse",
  "proxy",
  "hangUp",
  "delay",
  "cutSnapshot",
] as const;

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("create" as const),
      what: fc.array(fc.constantFrom("factory", "offer", "locked", "free", "other"), { minLength: 1, maxLength: 4 }),
      seen: fc.integer({ min: 0, max: 5 }).map((number) => number > 0),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom("archive", "unassign", "assign", "assign", "assignEarly", "unassignLate", "unassignLate"),
      which: fc.nat(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("checkpoint", "elsewhere", "restart") }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom("prune", "restore"),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: 15 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("fault" as const),
      fault: fc.constantFrom(...faults),
      after: fc.integer({ min: 0, max: 3 }),
    }),
  },
);

test(
  `holds over ${SCRIPTS} random scripts`,
  async () => {
    const run = fc.asyncProperty(fc.array(step, { maxLength: 40 }), holds);
    await fc.assert(run, { numRuns: SCRIPTS, endOnFailure: true });
  },
  10 * 60_000,
);

async function holds(steps: readonly Step[]): Promise<void> {
  const ledger = new ScriptedLedger();
  let participant = await Participant.start({ ledger, checkpointMs: 20 });
  const mirror = startMirror(participant.url);
  try {
    for (const one of steps) {
      if (one.do === "restart") {
        await participant.stop();
        participant = await participantOn({ ledger, port: participant.port, checkpointMs: 20 });
      } else {
        await carryOut(one, participant);
      }
    }
    participant.faults.clear();
    // Late unassignments arrive in the end, as on a real ledger.
    for (const { contractId } of ledger.contracts.values()) attempt(() => ledger.unassignLate(contractId));
    await equals(mirror, ledger);
  } finally {
    await mirror.stop();
    await participant.stop();
  }
}

let created = 0;

async function carryOut(
  one: Exclude<Step, { do: "restart" }>,
  { ledger, faults: injector }: Participant,
): Promise<void> {
  switch (one.do) {
    case "create":
      ledger.transact(one.what.map((what) => ({ create: contract(what, one.seen) })));
      return;
    case "archive":
    case "unassign":
    case "assign":
    case "assignEarly":
    case "unassignLate":
      change(one.do, one.which, ledger);
      return;
    case "checkpoint":
      ledger.checkpoint();
      return;
    case "elsewhere":
      ledger.elsewhere();
      return;
    case "prune":
      attempt(() => ledger.prune(Math.floor(ledger.end * one.share)));
      return;
    case "restore":
      attempt(() => ledger.restore(Math.floor(ledger.end * one.share)));
      return;
    case "wait":
      await delay(one.ms);
      return;
    case "fault":
      give(one.fault, one.after, injector);
  }
}

/** Applies a fault to the open streams, or to the next one if none is open. */
function now(given: (streams: "open" | "next") => void): void {
  if (!attempt(() => given("open"))) given("next");
}

/** Selects the open streams, or the next one if none is open. */
function give(fault: (typeof faults)[number], after: number, injector: Participant["faults"]): void {
  const when = { after, path: "/v2/updates" } as const;
  const given: Readonly<Record<(typeof faults)[number], () => void>> = {
    cut: () => now((streams) => injector.cut({ ...when, streams })),
    reset: () => now((streams) => injector.cut({ ...when, streams, reset: true })),
    halfFrame: () => now((streams) => injector.halfFrame({ ...when, streams })),
    halfJson: () => now((streams) => injector.halfJson({ ...when, streams })),
    silence: () => now((streams) => injector.silence({ ...when, streams })),
    deaf: () => now((streams) => injector.silence({ ...when, streams, answersPings: false })),
    error: () => now((streams) => injector.error("SERVER_IS_SHUTTING_DOWN", { ...when, streams })),
    close: () => now((streams) => injector.close({ ...when, streams })),
    duplicate: () => injector.duplicate(after + 1),
    refuse: () => injector.refuse(after % 2 === 0 ? 503 : 429, { times: after + 1 }),
    proxy: () => injector.proxyError({ times: after + 1 }),
    hangUp: () => injector.hangUp({ times: after + 1 }),
    delay: () => injector.delay(5),
    cutSnapshot: () => injector.cut({ after, path: "/v2/state/active-contracts" }),
  };
  given[fault]();
}

function contract(what: keyof typeof templates, seen: boolean): Creation {
  const [packageName, entity, argument] = templates[what];
  const contractId = `${what}-${created++}`;
  return {
    contractId,
    packageName,
    templateId: `pkg:${entity}`,
    payload: argument,
    createdEventBlob: Buffer.from(`blob of ${contractId}`).toString("base64"),
    signatories: [seen ? operator : "somebody::1220"],
  };
}

/** Applies the step to one of the contracts that allow it, if any. */
function change(
  what: "archive" | "unassign" | "assign" | "assignEarly" | "unassignLate",
  which: number,
  ledger: ScriptedLedger,
): void {
  const ids = [...ledger.contracts.keys()];
  const target = which % 2 === 0 ? "sync-B::1220" : "sync-C::1220";
  const does = {
    archive: (id: string) =>
      ledger.transact([{ archive: id }], { synchronizerId: ledger.contracts.get(id)?.synchronizerId ?? "none" }),
    unassign: (id: string) => ledger.unassign(id, target),
    assign: (id: string) => ledger.assign(id),
    assignEarly: (id: string) => ledger.assignEarly(id, target),
    unassignLate: (id: string) => ledger.unassignLate(id),
  }[what];
  for (let tried = 0; tried < ids.length; tried++) {
    const id = ids[(which + tried) % ids.length];
    if (id !== undefined && attempt(() => does(id))) return;
  }
}

/** Whether the step was valid. An invalid step changes nothing. */
function attempt(does: () => unknown): boolean {
  try {
    does();
    return true;
  } catch {
    return false;
  }
}

async function equals(mirror: RunningMirror, ledger: ScriptedLedger): Promise<void> {
  const until = Date.now() + SETTLE_MS;
  for (;;) {
    try {
      expect(await stateOf(mirror)).toEqual(truthOf(ledger));
      expect(mirror.lag.status.offset).toBeGreaterThanOrEqual(ledger.end);
      return;
    } catch (error) {
      if (Date.now() > until) throw new Error(`${String(error)}\n${mirror.logged.join("\n")}`, { cause: error });
      await delay(5);
    }
  }
}

async function stateOf(mirror: RunningMirror): Promise<unknown> {
  try {
    const held = await mirror.held();
    return byId(
      [...held.values()].map((one) => ({
        contractId: one.contractId,
        templateId: one.templateId,
        payload: JSON.parse(one.payload) as unknown,
        blob: one.createdEventBlob,
        createdAt: one.createdAt,
        synchronizerId: one.synchronizerId,
        counter: one.reassignmentCounter,
      })),
    );
  } catch (error) {
    if (error instanceof NotReady) return "no snapshot yet";
    throw error;
  }
}

function truthOf(ledger: ScriptedLedger): unknown {
  return byId(
    [...ledger.contracts.values()]
      .filter(
        ({ contractId, signatories }) => kept.has(contractId.split("-")[0] ?? "") && signatories.includes(operator),
      )
      .map((one) => ({
        contractId: one.contractId,
        templateId: one.templateId,
        payload: one.payload,
        blob: one.createdEventBlob,
        createdAt: one.createdAt,
        synchronizerId: one.synchronizerId,
        counter: one.reassignmentCounter,
      })),
  );
}

function byId<T extends { readonly contractId: string }>(all: readonly T[]): readonly T[] {
  return all.toSorted((a, b) => (a.contractId < b.contractId ? -1 : 1));
}
