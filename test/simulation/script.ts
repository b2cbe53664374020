/** Random scripts of changes and faults, the same for the same seed, and what their steps do to a ledger. */
import type { JsonObject } from "../../src/util/json.js";
import { element, parties, payload, type Template } from "../fixtures/elements.js";
import { creationsOf } from "../scripted-participant/elements.js";
import type { Creation, ScriptedLedger } from "../scripted-participant/ledger.js";
import { Random } from "../ingest/database/random.js";
import type { CallFault } from "./participant.js";

export const { operator } = parties;

/** A contract to create that the operator sees. */
export function creation(template: Template, contractId: string, argument: JsonObject): Creation {
  const [made] = creationsOf([element(template, contractId, argument)]);
  if (made === undefined) throw new Error("one element is one creation");
  return { ...made, signatories: [operator] };
}

/** A contract that is stored, and in the log by its id alone. */
export const offer = (contractId: string): Creation =>
  creation("TransferOffer", contractId, payload.offer("alice", "bob", "USD", "locked"));

/** Contracts that are stored, one of a template that is dropped, and one that is not requested. */
const creations = {
  factory: (id: string) => creation("AllocationFactory", id, payload.service()),
  offer,
  locked: (id: string) => creation("Holding", id, payload.lockedHolding("alice", "USD")),
  free: (id: string) => creation("Holding", id, payload.lockedHolding("alice", "USD", { lock: null })),
  other: (id: string) => ({ ...offer(id), packageName: "other-package", templateId: "pkg:Some.Other:Thing" }),
} as const;
const creatable = ["factory", "offer", "locked", "free", "other"] as const;
export const isStored = (contractId: string): boolean => /^(factory|offer|locked)-/.test(contractId);

type Changing = "archive" | "unassign" | "assign" | "assignEarly" | "unassignLate";
/** A step that a ledger takes alone. `share` is where to, from the begin to the end of the ledger. */
export type LedgerStep =
  | { readonly do: "create"; readonly what: readonly (keyof typeof creations)[] }
  | { readonly do: Changing; readonly which: number }
  | { readonly do: "checkpoint" | "elsewhere" }
  | { readonly do: "prune" | "restore"; readonly share: number };

export type StreamFault = "cut" | "error" | "close" | "silence" | "dead" | "unreadable";

/** A step that a participant takes alone. */
export type ParticipantStep =
  | { readonly do: "upload" | "stop" | "start" }
  /** The participant comes back empty, with the first so many of its packages. */
  | { readonly do: "clear"; readonly packages: number }
  /** Another history behind the same address, while the old connections are dead. */
  | { readonly do: "move"; readonly to: "restored" | "empty"; readonly creates: number }
  | { readonly do: "call"; readonly fault: CallFault; readonly times: number }
  /** The next searches for missing packages fail. */
  | { readonly do: "search"; readonly fault: "unanswered" | "cut"; readonly times: number }
  /** The next snapshot takes longer. */
  | { readonly do: "slowSnapshot"; readonly ms: number }
  | { readonly do: "stream"; readonly fault: StreamFault; readonly streams: "open" | "next" };

/** A step of the log, and of the processes that mirror and answer. */
export type ServiceStep =
  /** A request for a contract: one of the ledger, one that was, or one that never was. */
  | { readonly do: "ask"; readonly follower: number; readonly which: number }
  /** A process is killed, and another starts after a time. */
  | { readonly do: "kill"; readonly process: number; readonly ms: number }
  /** The mirror that fills the next generation is killed before it serves it, and another starts after a time. */
  | { readonly do: "killAtSwap"; readonly ms: number }
  /** A process is frozen, or does not reach the log, for a time. */
  | { readonly do: "freeze" | "cut"; readonly process: number; readonly ms: number }
  /** The log is slow, away, or loses notices, for a time. */
  | { readonly do: "slowLog"; readonly ms: number; readonly forMs: number }
  | { readonly do: "stopLog" | "deafen"; readonly ms: number }
  | { readonly do: "backUpLog" }
  /** The log is away for a time, and comes back as it was at the latest backup. */
  | { readonly do: "restoreLog"; readonly ms: number }
  /** The log forgets a part of what leads to its head. */
  | { readonly do: "trimLog"; readonly share: number }
  /** The clock of the log, which tells the time, is set. */
  | { readonly do: "setClock"; readonly hours: number };

export type Step = LedgerStep | ParticipantStep | ServiceStep | { readonly do: "wait"; readonly ms: number };

/** The processes of a run: mirrors first. */
export const MIRRORS = 2;
export const FOLLOWERS = 3;
const PROCESSES = MIRRORS + FOLLOWERS;

type Make = (random: Random) => Step;
const change =
  (what: Changing): Make =>
  (random) => ({ do: what, which: random.below(1_000) });
const plain =
  (what: "checkpoint" | "elsewhere" | "upload" | "stop" | "start" | "backUpLog"): Make =>
  () => ({ do: what });

/** How often each step comes. */
const steps: readonly (readonly [weight: number, Make])[] = [
  [12, (random) => ({ do: "create", what: Array.from({ length: 1 + random.below(3) }, () => random.of(creatable)) })],
  [8, change("archive")],
  [2, change("unassign")],
  [3, change("assign")],
  [1, change("assignEarly")],
  [2, change("unassignLate")],
  [1, plain("checkpoint")],
  [2, plain("elsewhere")],
  [6, (random) => ({ do: "ask", follower: random.below(FOLLOWERS), which: random.below(1_000) })],
  [2, plain("upload")],
  [1, plain("stop")],
  [2, plain("start")],
  [2, (random) => ({ do: "kill", process: random.below(PROCESSES), ms: random.below(random.of([10, 5_000])) })],
  [2, (random) => ({ do: "killAtSwap", ms: random.below(random.of([10, 5_000])) })],
  [2, (random) => ({ do: "freeze", process: random.below(PROCESSES), ms: random.below(random.of([2_000, 40_000])) })],
  [2, (random) => ({ do: "cut", process: random.below(PROCESSES), ms: random.below(random.of([10, 3_000, 40_000])) })],
  [1, (random) => ({ do: "slowLog", ms: random.of([100, 2_000]), forMs: random.below(10_000) })],
  [1, (random) => ({ do: "stopLog", ms: random.below(random.of([100, 30_000])) })],
  [1, (random) => ({ do: "deafen", ms: random.below(20_000) })],
  [2, plain("backUpLog")],
  [1, (random) => ({ do: "restoreLog", ms: 1_000 + random.below(5_000) })],
  [1, (random) => ({ do: "trimLog", share: random.next() })],
  [1, (random) => ({ do: "setClock", hours: random.below(5) - 2 })],
  [1, (random) => ({ do: "prune", share: random.next() })],
  [1, (random) => ({ do: "restore", share: random.next() })],
  [1, (random) => ({ do: "clear", packages: random.below(3) })],
  [1, (random) => ({ do: "search", fault: random.of(["unanswered", "cut"]), times: 1 + random.below(3) })],
  [1, (random) => ({ do: "slowSnapshot", ms: random.below(50_000) })],
  [1, (random) => ({ do: "move", to: random.of(["restored", "empty"]), creates: random.below(12) })],
  [
    4,
    (random) => ({
      do: "call",
      fault: random.of(["unanswered", "busy", "cut", "lowerEnd"]),
      times: 1 + random.below(3),
    }),
  ],
  [
    4,
    (random) => ({
      do: "stream",
      fault: random.of(["cut", "error", "close", "silence", "dead", "unreadable"]),
      streams: random.of(["open", "next"]),
    }),
  ],
  [20, (random) => ({ do: "wait", ms: random.below(random.of([10, 200, 3_000, 20_000, 70_000])) })],
];
const weighted = steps.flatMap(([weight, make]) => Array<Make>(weight).fill(make)) as [Make, ...Make[]];

/** Time to become ready. */
export const QUIET_START: readonly Step[] = [
  { do: "create", what: ["factory", "offer", "locked"] },
  { do: "wait", ms: 3_000 },
];

export function scriptOf(seed: number): readonly Step[] {
  const random = new Random(seed);
  const script = Array.from({ length: 5 + random.below(55) }, () => random.of(weighted)(random));
  return random.below(4) === 0 ? script : [...QUIET_START, ...script];
}

/** How many contracts each ledger has seen. */
const created = new WeakMap<ScriptedLedger, number>();

function nextName(ledger: ScriptedLedger, what: string): string {
  const count = created.get(ledger) ?? 0;
  created.set(ledger, count + 1);
  return `${what}-${count}`;
}

/** Takes a step, if it is valid now; an invalid step changes nothing. Returns whether it was. */
export function take(ledger: ScriptedLedger, step: LedgerStep, hasPackage = (_name: string) => true): boolean {
  switch (step.do) {
    case "create": {
      const contracts = step.what.map((what) => creations[what](nextName(ledger, what)));
      const possible = contracts.filter(
        ({ packageName }) => packageName === "other-package" || hasPackage(packageName),
      );
      return possible.length > 0 && attempt(() => ledger.transact(possible.map((create) => ({ create }))));
    }
    case "checkpoint":
    case "elsewhere":
      return attempt(() => ledger[step.do]());
    case "prune":
    case "restore":
      return attempt(() => ledger[step.do](Math.floor(ledger.end * step.share)));
    default:
      return changeOne(ledger, step.do, step.which);
  }
}

/** Late unassignments arrive in the end, as on a real ledger. */
export function settle(ledger: ScriptedLedger): void {
  for (const { contractId } of ledger.contracts.values()) attempt(() => ledger.unassignLate(contractId));
}

/** Changes one of the contracts that allow it, if any. */
function changeOne(ledger: ScriptedLedger, what: Changing, which: number): boolean {
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
  return ids.some((_, tried) => attempt(() => does(ids[(which + tried) % ids.length] ?? "")));
}

export function attempt(does: () => unknown): boolean {
  try {
    does();
    return true;
  } catch {
    return false;
  }
}
