import { count, seconds } from "./setting.js";

export const freshnessSettings = {
  unreadySeconds: seconds(
    "unready-seconds",
    30,
    "time since the ledger last confirmed the state after which the service is not ready",
  ),
  staleSeconds: seconds(
    "stale-seconds",
    300,
    "time since the ledger last confirmed the state after which requests are rejected with 503",
  ),
  readWaitMs: count(
    "read-wait-ms",
    { min: 0, max: 60_000, default: 1_000 },
    "maximum wait for a contract that the ledger may have and the mirror does not have yet, in milliseconds",
  ),
};
