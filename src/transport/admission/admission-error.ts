import type { ConnectError } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import { refusal } from "../errors/error-details.js";
import type { Budgets } from "./budgets.js";
import { connectionOf } from "./connection.js";

const RETRY = { retrySeconds: 1 };

/** Created once, because errors are expensive. */
const TOO_MANY_REQUESTS = refusal("OVERLOADED", "too many requests are under way; retry later", RETRY);
export const TOO_MANY_RESPONSES = refusal(
  "OVERLOADED",
  "too many responses wait for their clients; retry later",
  RETRY,
);
const TOO_MANY_CONNECTIONS = refusal("OVERLOADED", "the service has too many connections; retry later", RETRY);

/** Why a request is not admitted; undefined if it is. Does not apply to health requests. */
export function admissionError({ raw }: FastifyRequest): ConnectError | undefined {
  const connection = connectionOf(raw);
  if (connection === undefined) return undefined;
  if (connection.isOverBudget()) return TOO_MANY_REQUESTS;
  return connection.isReserve ? TOO_MANY_CONNECTIONS : undefined;
}

/** Why no further response is made; undefined if there is room for it. */
export const responseBudgetError = ({ responses }: Budgets): ConnectError | undefined =>
  responses.refuses() ? TOO_MANY_RESPONSES : undefined;
