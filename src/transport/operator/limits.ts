import type { BudgetLimits, ConnectionLimits } from "../limits.js";
import type { MiddlewareOptions } from "../middleware/middleware.js";

/** Prometheus and a few people need no more. */
export const OPERATOR_CONNECTIONS: ConnectionLimits = {
  maxHeaderBytes: 16 * 1024,
  requestMs: 5_000,
  maxConnections: 16,
  maxStreams: 32,
};

/** Its own, so that no load of the public port makes the metrics unreadable, and none of its own disturbs clients. */
export const OPERATOR_BUDGETS: BudgetLimits = { bodyMegabytes: 16, responseMegabytes: 32, requests: 256 };

/** No page of another origin may read a response. Metrics are answered under any load. */
export const OPERATOR_MIDDLEWARE: MiddlewareOptions = {
  corsOrigins: "none",
  maxPathBytes: 12 * 1024,
  maxDelayMs: 0,
  rates: { perClient: 0, inAll: 0 },
};
