/** Settlements. The minimum of each limit is the worst case that every registry must support. */
import { oneOf } from "../parsers.js";
import { count, type Setting, setting } from "./setting.js";

const unknownAllocations = ["leave-out", "reject"] as const;
type UnknownAllocations = (typeof unknownAllocations)[number];

/** No settlement that fits in a request comes near this. */
const MAX_LIMIT = 1_000_000;

export const settlementSettings = {
  maxLegs: limit("legs", 25, 100, "transfer legs"),
  maxAllocations: limit("allocations", 50, 100, "allocations"),
  maxInstruments: limit("instruments", 25, 25, "distinct instruments"),
  maxAccounts: limit("accounts", 50, 200, "distinct accounts"),
  maxParties: limit("parties", 100, 200, "distinct parties of accounts"),
  unknownAllocations: setting<UnknownAllocations>("unknown-allocations", {
    accepts: `one of ${unknownAllocations.join(", ")}`,
    description:
      "what a settlement with an allocation that was never seen gets: an answer without it, since the same transaction may create it, or 404",
    default: "leave-out",
    parse: oneOf(unknownAllocations),
  }),
};

function limit(name: string, min: number, defaultValue: number, label: string): Setting<number> {
  return count(`max-${name}`, { min, max: MAX_LIMIT, default: defaultValue }, `maximum ${label} in one settlement`);
}
