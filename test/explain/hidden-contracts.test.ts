/** The operator's explanation says what a contract is that the public answer hides. */
import { expect, test } from "vitest";
import { element, parties, payload } from "../fixtures/elements.js";
import { completeElements } from "../fixtures/operation-calls.js";
import * as requests from "../fixtures/requests.js";
import { explainingService } from "./explaining-service.js";

const { registrar } = parties;
const TRANSFER = "offledger.transfer_instruction.v1.TransferInstructionService";
const other = "other::1220";
const others = JSON.parse(
  JSON.stringify(element("AllocationFactory", "other-factory", payload.service())).replaceAll(registrar, other),
);
const accept = requests.transferChoice("v1", "accept");

test.each([
  ["a registrar that is served", other, "instruction-unknown"],
  ["one that is not", "nobody::1220", "registrar-not-served"],
])("an instruction asked for under another registrar: %s", async (_, asked, code) => {
  const service = await explainingService([...completeElements(), others]);
  const operation = `POST ${accept("offer", asked)}`;
  const { body } = await service.explain({ call: { operation, request: {} } });
  const kind = `is a TransferOffer of registrar ${registrar}`;
  expect(body.causes.map((cause) => cause.code)).toEqual([code]);
  expect(body.changes.map(({ remedy }) => remedy)).toEqual([`Contract offer ${kind}: use that registrar.`]);
  expect(body.searches[0]?.candidates).toMatchObject([
    { contract: { contractId: "offer" }, chosen: false, reason: kind },
  ]);
  // The public answer is that for an id that does not exist.
  const hidden = await service.send(operation, {});
  const unknown = await service.send(`POST ${accept("nothing", asked)}`, {});
  expect(hidden).toEqual({ status: 404, text: unknown.text.replaceAll("nothing", "offer") });
});

test.each([
  [
    "allocation",
    `is a DvpLegAllocation of registrar ${registrar}`,
    "use an operation for that kind, such as offledger.allocation.v1.AllocationService/GetAllocationTransferContext",
  ],
  [
    "usd",
    `is an InstrumentConfiguration of registrar ${registrar}`,
    "no operation is about such contracts, so check the contract id",
  ],
  [
    "locked",
    `is a Holding of registrar ${registrar}`,
    "no operation is about such contracts, so check the contract id",
  ],
])("a contract of another kind: %s", async (id, kind, todo) => {
  const service = await explainingService(completeElements());
  const call = {
    operation: `${TRANSFER}/GetTransferInstructionAcceptContext`,
    request: { registrarParty: registrar, transferInstructionId: id },
  };
  const { body } = await service.explain({ call });
  expect(body.causes.map(({ code }) => code)).toEqual(["instruction-unknown"]);
  expect(body.changes.map(({ remedy }) => remedy)).toEqual([`Contract ${id} ${kind}: ${todo}.`]);
});

test("an id that no contract has keeps its remedy", async () => {
  const service = await explainingService(completeElements());
  const { body } = await service.explain({ call: { operation: `POST ${accept("nothing")}`, request: {} } });
  expect(body.changes[0]?.remedy).toMatch(/^Check the contract id and the registrar, or wait/);
  expect(body.searches[0]?.candidates).toEqual([]);
});

test("a configuration asked for by another scheme", async () => {
  const service = await explainingService(completeElements());
  const operation = `POST ${requests.instrumentConfiguration}`;
  const request = { registrar, instrumentIdentifier: { source: registrar, id: "USD", scheme: "ISIN" } };
  const { body } = await service.explain({ call: { operation, request } });
  const known = `source "${registrar}", id "USD", scheme "Internal"`;
  expect(body.causes.map(({ code }) => code)).toEqual(["configuration-missing"]);
  expect(body.changes.map(({ remedy }) => remedy)).toEqual([
    `Ask for it by ${known}: a configuration for these exists.`,
  ]);
  expect(body.searches[0]?.candidates).toMatchObject([
    { contract: { contractId: "usd" }, chosen: false, reason: `is for ${known}` },
  ]);
});
