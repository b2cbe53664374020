/** Large requests of many connections, which arrive in the same turn of the event loop. */
import { expect, onTestFinished, test } from "vitest";
import { AllocationService } from "../../../gen/offledger/allocation/v1/allocation_service_pb.js";
import { contextReply } from "../../../src/service/messages/context-reply.js";
import { bindPartial } from "../../fixtures/partial-service.js";
import { until } from "../../fixtures/wait.js";
import { body, head, Served } from "./served.js";

/** More than the slice in which waiting requests are handled. */
const HANDLER_MS = 2;
/** Four at once, and one that has waited at each end of a turn. */
const MAX_PER_TURN = 6;
const CONNECTIONS = 24;
const BYTES = 6_000;

/** How many requests were handled in each turn. */
const turns: number[] = [];

const served = new Served(
  { bodyMegabytes: 2, responseMegabytes: 64, requests: 400 },
  [],
  [
    bindPartial(AllocationService, {
      getAllocationCancelContext: () => {
        turns[turns.length - 1] = (turns.at(-1) ?? 0) + 1;
        const end = performance.now() + HANDLER_MS;
        while (performance.now() < end);
        return contextReply({ values: [], disclosed: [] }, false);
      },
    }),
  ],
);

function countTurns(): void {
  let isCounting = true;
  const next = () => {
    turns.push(0);
    if (isCounting) setImmediate(next);
  };
  next();
  onTestFinished(() => void (isCounting = false));
}

test("few are handled in one turn, and all are answered", async () => {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => served.connect()));
  for (const { socket } of clients) socket.write(head(BYTES) + String(body).padEnd(BYTES - 1));
  await until("all bodies but their last byte are here", () => served.budgets.bodies.used >= CONNECTIONS * (BYTES - 1));
  countTurns();
  for (const { socket } of clients) socket.write(" ");
  await until("all are answered", () => clients.every(({ text }) => text().startsWith("HTTP/1.1 200 ")));
  expect(turns.reduce((sum, count) => sum + count)).toBe(CONNECTIONS);
  expect(Math.max(...turns)).toBeLessThanOrEqual(MAX_PER_TURN);
  await until("nothing is held", () => served.isUnused());
});
