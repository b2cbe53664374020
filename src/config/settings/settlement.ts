/** How large a settlement may be. */
import { number, type Setting } from "./setting.js";

/** The most that a limit may be; no settlement that fits in a request comes near. */
const MOST = 1_000_000;

export const settlementSettings = {
  // The least values are the worst case that every registry has to support.
  maxLegs: limit("legs", 25, 100, "transfer legs"),
  maxAllocations: limit("allocations", 50, 100, "allocations"),
  maxInstruments: limit("instruments", 25, 25, "distinct instruments"),
  maxAccounts: limit("accounts", 50, 200, "distinct accounts"),
  maxParties: limit("parties", 100, 200, "distinct parties of accounts"),
};

function limit(what: string, min: number, fallback: number, about: string): Setting<number> {
  return number(`max-${what}`, min, MOST, fallback, `most ${about} of one settlement`);
}
