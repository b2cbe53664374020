/** Limits on one settlement. Each minimum is the worst case that every registry must support. */
import { count, type Setting } from "./setting.js";

/** No settlement that fits in a request comes near this. */
const MAX_LIMIT = 1_000_000;

export const settlementSettings = {
  maxLegs: limit("legs", 25, 100, "transfer legs"),
  maxAllocations: limit("allocations", 50, 100, "allocations"),
  maxInstruments: limit("instruments", 25, 25, "distinct instruments"),
  maxAccounts: limit("accounts", 50, 200, "distinct accounts"),
  maxParties: limit("parties", 100, 200, "distinct parties of accounts"),
};

function limit(name: string, min: number, defaultValue: number, label: string): Setting<number> {
  return count(`max-${name}`, { min, max: MAX_LIMIT, default: defaultValue }, `maximum ${label} in one settlement`);
}
