/** Contracts that the rules leave out before they choose are explained too. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { element, payload } from "../fixtures/elements.js";
import { completeElements } from "../fixtures/operation-calls.js";
import * as requests from "../fixtures/requests.js";
import { type ExplainJson, explainingService } from "./explaining-service.js";

const accept = `POST ${requests.transferChoice("v1", "accept")("offer")}`;
const newer = { createdAt: "2026-02-05T09:00:00.000000Z" };
const onB = { synchronizerId: "sync-B" };

/** The candidates of the search whose name begins so, by id: whether each is chosen, and why not. */
function candidatesOf({ searches }: ExplainJson, name: string): readonly (readonly [string, boolean, string])[] {
  const [search, ...others] = searches.filter((one) => one.name.startsWith(name));
  expect(others).toEqual([]);
  const found = (search?.candidates ?? []).map(
    ({ contract, chosen, reason }) => [contract.contractId, chosen, reason] as const,
  );
  return found.toSorted(([a], [b]) => (a < b ? -1 : 1));
}

async function explained(added: readonly JsonObject[], operation: string, request: JsonObject): Promise<ExplainJson> {
  const service = await explainingService(completeElements({ added }));
  const { body } = await service.explain({ call: { operation, request } });
  return body;
}

test("the RegistrarServices, of which one says whether there are result contracts", async () => {
  const added = [
    element("RegistrarService", "elsewhere", payload.service(), { ...newer, ...onB }),
    element("RegistrarService", "older", payload.service(), { createdAt: "2025-02-05T09:00:00.000000Z" }),
  ];
  const body = await explained(added, accept, { meta: {} });
  expect(candidatesOf(body, "the RegistrarService of registrar registrar::1220")).toEqual([
    ["elsewhere", false, "is on synchronizer sync-B"],
    ["older", false, "a newer one is chosen"],
    ["service", true, ""],
  ]);
  const entries = body.searches.find(({ name }) => name.startsWith("the RegistrarService"))?.entries;
  expect(entries).toEqual(["utility.digitalasset.com/enable-result-contracts"]);
});
