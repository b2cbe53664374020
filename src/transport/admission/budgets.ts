import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import { Budget } from "./budget.js";
import { ResponseBudget } from "./response-budget.js";

/** Undefined: the default, from the memory that the process may use. */
export interface BudgetLimits {
  /** Request bodies that are being received, in MiB. */
  readonly bodyMegabytes?: number | undefined;
  /** Responses that clients have not taken yet, in MiB. */
  readonly responseMegabytes?: number | undefined;
  /** Requests that have arrived and have no response yet. */
  readonly requests?: number | undefined;
}

/** The limits of the process as a whole. Every other limit is one of a request, a connection or a client. */
export interface Budgets {
  readonly bodies: Budget;
  readonly responses: ResponseBudget;
  readonly requests: Budget;
}

const MIB = 1024 * 1024;
/** Divisors of the memory for the budgets of bodies and responses. A body may leave twice its bytes to be collected. */
const BODY_SHARE = 16;
const RESPONSE_SHARE = 8;
const MAX_BYTES = 512 * MIB;
const MIN_BYTES = 16 * MIB;
/** A request under way takes some 20 KB of the heap, so that all together may take a third of it. */
const HEAP_BYTES_PER_REQUEST = 64 * 1024;
const MAX_REQUESTS = 20_000;

export function createBudgets({ bodyMegabytes, responseMegabytes, requests }: BudgetLimits = {}): Budgets {
  const memory = memoryLimit();
  const share = (parts: number) => Math.min(MAX_BYTES, Math.max(MIN_BYTES, Math.floor(memory / parts)));
  const { heap_size_limit: heap } = getHeapStatistics();
  return {
    bodies: new Budget(bodyMegabytes === undefined ? share(BODY_SHARE) : bodyMegabytes * MIB),
    responses: new ResponseBudget(responseMegabytes === undefined ? share(RESPONSE_SHARE) : responseMegabytes * MIB),
    requests: new Budget(requests ?? Math.min(MAX_REQUESTS, Math.floor(heap / HEAP_BYTES_PER_REQUEST))),
  };
}

/** The memory that the process may use, in bytes: the limit of its container, or all of the machine. */
function memoryLimit(): number {
  const total = totalmem();
  // 0 or a huge number without a limit, as the version of Node.js has it.
  const constrained = process.constrainedMemory();
  return constrained > 0 && constrained < total ? constrained : total;
}
