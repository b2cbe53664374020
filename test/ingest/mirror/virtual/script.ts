/** Random scripts of changes and faults, the same for the same seed, and what their steps do to a ledger. */
import type { JsonObject } from "../../../../src/domain/json.js";
import { element, parties, payload, type Template } from "../../../fixtures/elements.js";
import { creationsOf } from "../../../scripted-participant/elements.js";
import type { Creation, ScriptedLedger } from "../../../scripted-participant/ledger.js";
import { Random } from "../../database/random.js";
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

export type Step =
  | LedgerStep
  | { readonly do: "upload" | "stop" | "start" }
  /** A request misses a contract, and waits until the store has caught up. */
  | { readonly do: "ask" }
  /** The process of the mirror is killed, and another starts on its store. */
  | { readonly do: "kill" }
  /** The participant comes back empty, with the first so many of its packages. */
  | { readonly do: "clear"; readonly packages: number }
  /** Another history behind the same address, while the old connections are dead. */
  | { readonly do: "move"; readonly to: "restored" | "empty"; readonly creates: number }
  | { readonly do: "call"; readonly fault: CallFault; readonly times: number }
  /** The next searches for missing packages fail. */
  | { readonly do: "search"; readonly fault: "unanswered" | "cut"; readonly times: number }
  /** The next snapshot takes longer. */
  | { readonly do: "slowSnapshot"; readonly ms: number }
  | { readonly do: "stream"; readonly fault: StreamFault; readonly streams: "open" | "next" }
  | { readonly do: "wait"; readonly ms: number };

type Make = (random: Random) => Step;
const change =
  (what: Changing): Make =>
  (random) => ({ do: what, which: random.below(1_000) });
const plain =
  (what: "checkpoint" | "elsewhere" | "ask" | "upload" | "stop" | "start" | "kill"): Make =>
  () => ({ do: what });

/** How often each step comes. */
const steps: readonly (readonly [weight: number, Make])[] = [
  [9, (random) => ({ do: "create", what: Array.from({ length: 1 + random.below(3) }, () => random.of(creatable)) })],
  [4, change("archive")],
  [2, change("unassign")],
  [3, change("assign")],
  [1, change("assignEarly")],
  [2, change("unassignLate")],
  [1, plain("checkpoint")],
  [2, plain("elsewhere")],
  [4, plain("ask")],
  [2, plain("upload")],
  [1, plain("stop")],
  [2, plain("start")],
  [1, plain("kill")],
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
  const script = Array.from({ length: 5 + random.below(35) }, () => random.of(weighted)(random));
  return random.below(4) === 0 ? script : [...QUIET_START, ...script];
}

let created = 0;

/** Takes a step, if it is valid now; an invalid step changes nothing. Returns whether it was. */
export function take(ledger: ScriptedLedger, step: LedgerStep, hasPackage = (_name: string) => true): boolean {
  switch (step.do) {
    case "create": {
      const contracts = step.what.map((what) => creations[what](`${what}-${created++}`));
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
