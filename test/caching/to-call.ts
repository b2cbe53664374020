/** Requests of the model as calls, which have a path and a body for REST. */
import { InstrumentConfigurationService } from "../../gen/offledger/instrument_configuration/v0/instrument_configuration_service_pb.js";
import { OperatorService } from "../../gen/offledger/operator/v0/operator_service_pb.js";
import { get, utility } from "../fixtures/calls/build.js";
import { info, instrument, instruments } from "../fixtures/calls/metadata.js";
import {
  allocationFactory,
  burnMintFactory,
  createIssuance,
  executeTransfer,
  type Form,
  type IssuanceChoice,
  type Kind,
  onAllocation,
  onAllocationInstruction,
  onIssuance,
  onTransfer,
  settlementFactory,
  transferFactory,
} from "../fixtures/calls/operations.js";
import type { Call } from "../fixtures/protocols.js";
import type { JsonObject } from "../../src/domain/json.js";
import type { Request } from "./requests.js";

const configurations = InstrumentConfigurationService.method;
const CONFIGURATIONS = "/api/utilities/v0/contract/instrument-configuration";

export function toCall(request: Request): Call {
  switch (request.operation) {
    case "transfer-factory":
      return transferFactory(versionOf(request.choiceArguments), bodyOf(request), request.registrar);
    case "allocation-factory":
      return allocationFactory(versionOf(request.choiceArguments), bodyOf(request), request.registrar);
    case "settlement-factory":
      return settlementFactory(bodyOf(request), request.registrar);
    case "burn-mint-factory":
      return burnMintFactory(request.holders, request.instrument, request.registrar);
    case "instrument-configuration":
      return utility(configurations.getInstrumentConfiguration, "/contract/instrument-configuration", {
        registrar: request.registrar,
        instrumentIdentifier: { ...request.identifier },
      });
    case "instrument-configurations":
      return get(configurations.getAllInstrumentConfigurations, `${CONFIGURATIONS}/all`);
    case "instruments":
      return instruments(request.registrar);
    case "supported-apis":
      return info(request.registrar);
    case "operator":
      return get(OperatorService.method.getOperator, "/api/utilities/v0/operator");
    case "packages":
      return get(OperatorService.method.getAllPackages, "/api/utilities/v0/package/all");
    case "configuration-page": {
      const { page, size } = request;
      const path = `${CONFIGURATIONS}/paginated?page=${page}&size=${size}`;
      return get(configurations.listInstrumentConfigurations, path, { page, size });
    }
    case "instrument":
      return instrument(request.registrar, request.id);
    case "instrument-page":
      return instruments(request.registrar, { pageSize: request.size });
    case "allocation/execute-transfer":
      return executeTransfer(request.contractId, request.registrar);
    default:
      return toChoiceCall(request);
  }
}

type ChoiceRequest = Extract<Request, { readonly contractId: string } | { readonly holders: readonly string[] }>;

/** Names of operations are paths such as `mint-offer/accept`. */
function toChoiceCall(request: ChoiceRequest): Call {
  const [on = "", name = ""] = request.operation.split("/");
  if ("holders" in request) {
    const [kind, form] = on.split("-") as [Kind, Form];
    return createIssuance(kind, form, request.holders[0] ?? "", request.instrument, request.registrar);
  }
  const { contractId } = request;
  if (!("registrar" in request)) {
    const [kind, form] = on.split("-") as [Kind, Form];
    return onIssuance(kind, form, name as IssuanceChoice, contractId);
  }
  const { registrar } = request;
  if (on === "allocation-instruction")
    return onAllocationInstruction(name as "accept" | "withdraw", contractId, registrar);
  if (on === "allocation") return onAllocation("v2", name as "withdraw" | "cancel", contractId, registrar);
  return onTransfer("v1", name as "accept" | "reject" | "withdraw", contractId, registrar);
}

const versionOf = (choice: object): "v1" | "v2" => ("expectedAdmin" in choice ? "v1" : "v2");

/** The responses of some have no debug fields. */
const bodyOf = ({ choiceArguments }: { readonly choiceArguments: JsonObject }): JsonObject => ({
  choiceArguments,
  excludeDebugFields: JSON.stringify(choiceArguments).length % 2 === 0,
});
