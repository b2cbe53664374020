/** A registry of a service that reads a file: the responses of the old file are dropped when another replaces it. */
import { rename, writeFile } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { TransferInstructionService } from "../../../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
import type { JsonObject } from "../../../src/domain/json.js";
import { element, payload } from "../../fixtures/elements.js";
import { serve } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";
import { openRegistry } from "./cached-service.js";
import { transfer } from "./ledger.js";

const contracts = (factory: string): JsonObject[] => [
  element("AllocationFactory", factory, payload.service()),
  element("InstrumentConfiguration", "usd", payload.configuration("USD")),
];

test("another file drops all responses", async () => {
  const running = await serve(contracts("factory"));
  onTestFinished(() => running.close());
  const registry = await openRegistry(running.url);
  onTestFinished(() => registry.close());
  const transfers = registry.client(TransferInstructionService);
  const ask = async () => (await transfers.getTransferFactory(transfer("alice", "bob"))).factoryId;
  expect([await ask(), await ask()]).toEqual(["factory", "factory"]);
  const lines = contracts("second factory").map((contract) => `${JSON.stringify(contract)}\n`);
  await writeFile(`${running.path}.new`, lines.join(""));
  await rename(`${running.path}.new`, running.path);
  await until("the stream is reset", () => registry.statistics().resets === 2);
  expect([await ask(), await ask()]).toEqual(["second factory", "second factory"]);
  expect(registry.statistics()).toMatchObject({ hits: 2, misses: 2 });
});
