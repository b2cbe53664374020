/** Operation ids and schema names, which become the names of generated clients: those of the published documents. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Document, OpenApi, type Schema } from "../fixtures/openapi.js";

const own = new OpenApi(JSON.parse(readFileSync("gen/openapi.json", "utf8")) as Document);
const R = "/api/token-standard/v0/registrars/{registrarParty}/registry";
const U = "/api/utilities/v0";

const requestOf = (route: string) => own.operation(route).requestBody?.content["application/json"]?.schema;
const responseOf = (route: string, status = 200) => own.response(route, status)?.content?.["application/json"]?.schema;
const named = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const argumentsOf = (name: string) => own.document.components.schemas[name]?.properties?.["choiceArguments"]?.allOf;

describe("operations", () => {
  test.each([
    [`POST ${R}/transfer-instruction/v1/transfer-factory`, "getTransferFactory"],
    [
      `POST ${R}/transfer-instruction/v1/{transferInstructionId}/choice-contexts/accept`,
      "getTransferInstructionAcceptContext",
    ],
    [`POST ${R}/allocation-instruction/v1/allocation-factory`, "getAllocationFactory"],
    [`POST ${R}/allocations/v1/{allocationId}/choice-contexts/execute-transfer`, "getAllocationTransferContext"],
    [`GET ${R}/metadata/v1/info`, "getRegistryInfo"],
    [`GET ${R}/metadata/v1/instruments`, "listInstruments"],
    [`GET ${U}/contract/instrument-configuration/all`, "getAllInstrumentConfigurations"],
    [`POST ${U}/registry/burn/v0/request`, "getBurnRequestCreateContext"],
    [`POST ${U}/registry/transfer/v0/proof`, "verifyTransferProof"],
  ])("%s has the published id %s", (route, id) => {
    expect(own.operation(route).operationId).toBe(id);
  });

  test.each([
    [`POST ${R}/transfer-instruction/v2/transfer-factory`, "getTransferFactoryV2"],
    [`POST ${R}/allocation-instruction/v2/allocation-factory`, "getAllocationFactoryV2"],
    [`POST ${R}/allocations/v2/{allocationId}/choice-contexts/cancel`, "getAllocationCancelContextV2"],
    [`POST ${R}/allocation/v2/settlement-factory`, "getSettlementFactory"],
  ])("%s has V2 in its id %s only where version 1 has the same", (route, id) => {
    expect(own.operation(route).operationId).toBe(id);
  });
});

describe("schemas", () => {
  test.each([
    [`${R}/transfer-instruction/v1/transfer-factory`, "GetTransferFactoryRequest", "TransferFactoryWithChoiceContext"],
    [
      `${R}/transfer-instruction/v2/transfer-factory`,
      "GetTransferFactoryRequestV2",
      "TransferFactoryWithChoiceContext",
    ],
    [`${R}/allocations/v1/{allocationId}/choice-contexts/cancel`, "GetChoiceContextRequest", "ChoiceContext"],
    [
      `${R}/transfer-instruction/v2/{transferInstructionId}/choice-contexts/reject`,
      "GetChoiceContextRequest",
      "ChoiceContext",
    ],
    [`${R}/allocation/v2/settlement-factory`, "GetSettlementFactoryRequest", "FactoryWithChoiceContext"],
    [`${U}/registry/mint/v0/offer`, "OfferMintRequest", "UtilityFactoryWithChoiceContext"],
    [`${U}/registry/mint/v0/request`, "RequestMintRequest", "UtilityFactoryWithChoiceContext"],
    [`${U}/registry/burn/v0/offer`, "OfferBurnRequest", "UtilityFactoryWithChoiceContext"],
    [`${U}/registry/burn/v0/request`, "RequestBurnRequest", "UtilityFactoryWithChoiceContext"],
    [`${U}/registry/transfer/v0/proof`, "VerifyTransferProofRequest", "VerifyTransferProofResponse"],
  ])("%s takes %s and returns %s", (path, request, response) => {
    expect(requestOf(`POST ${path}`)).toEqual(named(request));
    expect(responseOf(`POST ${path}`)).toEqual(named(response));
  });

  test("of errors are ErrorResponse, and Error in the Utilities API", () => {
    expect(responseOf(`GET ${R}/metadata/v1/info`, 404)).toEqual(named("ErrorResponse"));
    expect(responseOf(`GET ${U}/operator`, 404)).toEqual(named("Error"));
  });

  test("of choice arguments are those of the version", () => {
    expect(argumentsOf("GetTransferFactoryRequest")).toEqual([named("TransferArguments")]);
    expect(argumentsOf("GetTransferFactoryRequestV2")).toEqual([named("TransferArgumentsV2")]);
    expect(argumentsOf("GetAllocationFactoryRequest")).toEqual([named("AllocateArguments")]);
    expect(argumentsOf("GetAllocationFactoryRequestV2")).toEqual([named("AllocateArgumentsV2")]);
    expect(argumentsOf("GetSettlementFactoryRequest")).toEqual([named("SettleBatchArguments")]);
  });
});
