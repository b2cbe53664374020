/** The rules do not refuse a paused instrument; explanations mention it. */
import { expect, test } from "vitest";
import { element, parties, payload } from "../fixtures/elements.js";
import { completeElements } from "../fixtures/operation-calls.js";
import * as requests from "../fixtures/requests.js";
import { explainingService } from "./explaining-service.js";

const { registrar } = parties;
const accept = requests.transferChoice("v1", "accept");

test("a paused instrument is noted, whether the request succeeds or not", async () => {
  const paused = element("InstrumentConfiguration", "configuration", payload.configuration("USD", { isPaused: true }));
  const registry = { configuration: paused };
  const call = { operation: `POST ${accept("offer")}`, request: {} };
  const notes = [`Instrument "USD" of registrar ${registrar} is paused: the choice may fail on the ledger.`];
  const answered = await explainingService(completeElements({ registry }));
  expect((await answered.explain({ call })).body).toMatchObject({ succeeds: true, notes });
  const refused = await explainingService(completeElements({ registry: { ...registry, rule: undefined } }));
  expect((await refused.explain({ call })).body).toMatchObject({ succeeds: false, notes });
  const active = await explainingService(completeElements());
  expect((await active.explain({ call })).body.notes).toEqual([]);
});
