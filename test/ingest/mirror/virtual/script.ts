/** Random scripts of changes and faults, the same for the same seed. */
import { Random } from "../../database/random.js";
import type { CallFault } from "./participant.js";

export const creatable = ["factory", "offer", "locked", "free", "other"] as const;
export type Creatable = (typeof creatable)[number];

export type StreamFault = "cut" | "error" | "close" | "silence" | "dead" | "unreadable";

export type Step =
  | { readonly do: "create"; readonly what: readonly Creatable[] }
  | { readonly do: "archive" | "unassign" | "assign" | "assignEarly" | "unassignLate"; readonly which: number }
  | { readonly do: "checkpoint" | "elsewhere" | "upload" | "stop" | "start" }
  /** A request misses a contract, and waits until the store has caught up. */
  | { readonly do: "ask" }
  /** The process of the mirror is killed, and another starts on its store. */
  | { readonly do: "kill" }
  /** `share` is where to, from the begin to the end of the ledger. */
  | { readonly do: "prune" | "restore"; readonly share: number }
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

/** How often each step comes. */
const WEIGHTS: readonly (readonly [Step["do"], number])[] = [
  ["create", 9],
  ["archive", 4],
  ["unassign", 2],
  ["assign", 3],
  ["assignEarly", 1],
  ["unassignLate", 2],
  ["checkpoint", 1],
  ["elsewhere", 2],
  ["ask", 4],
  ["upload", 2],
  ["stop", 1],
  ["start", 2],
  ["kill", 1],
  ["prune", 1],
  ["restore", 1],
  ["clear", 1],
  ["search", 1],
  ["slowSnapshot", 1],
  ["move", 1],
  ["call", 4],
  ["stream", 4],
  ["wait", 20],
];
const all = WEIGHTS.flatMap(([step, weight]) => Array<Step["do"]>(weight).fill(step)) as [Step["do"], ...Step["do"][]];

/** Time to become ready. */
export const QUIET_START: readonly Step[] = [
  { do: "create", what: ["factory", "offer", "locked"] },
  { do: "wait", ms: 3_000 },
];

export function scriptOf(seed: number): readonly Step[] {
  const random = new Random(seed);
  const steps = Array.from({ length: 5 + random.below(35) }, () => stepOf(random.of(all), random));
  return random.below(4) === 0 ? steps : [...QUIET_START, ...steps];
}

function stepOf(does: Step["do"], random: Random): Step {
  switch (does) {
    case "create":
      return { do: does, what: Array.from({ length: 1 + random.below(3) }, () => random.of(creatable)) };
    case "archive":
    case "unassign":
    case "assign":
    case "assignEarly":
    case "unassignLate":
      return { do: does, which: random.below(1_000) };
    case "prune":
    case "restore":
      return { do: does, share: random.next() };
    case "clear":
      return { do: does, packages: random.below(3) };
    case "search":
      return { do: does, fault: random.of(["unanswered", "cut"]), times: 1 + random.below(3) };
    case "slowSnapshot":
      return { do: does, ms: random.below(50_000) };
    case "move":
      return {
        do: does,
        to: random.of(["restored", "empty"]),
        creates: random.below(12),
      };
    case "call":
      return {
        do: does,
        fault: random.of(["unanswered", "busy", "cut", "lowerEnd"]),
        times: 1 + random.below(3),
      };
    case "stream":
      return {
        do: does,
        fault: random.of(["cut", "error", "close", "silence", "dead", "unreadable"]),
        streams: random.of(["open", "next"]),
      };
    case "wait":
      return { do: does, ms: random.below(random.of([10, 200, 3_000, 20_000, 70_000])) };
    default:
      return { do: does };
  }
}
