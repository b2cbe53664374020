/** Random requests: those of the model, and to operations that it does not predict; and as calls of REST. */
import fc from "fast-check";
import type { JsonObject } from "../../src/domain/json.js";
import { instrument, namedRegistrar, registrars, traders } from "../rules/model/contract-arbitraries.js";
import type { Ledger } from "../rules/model/ledger.js";
import { request as ofModel } from "../rules/model/request-arbitraries.js";
import type { Request as ModelRequest } from "../rules/model/requests.js";
import { InstrumentConfigurationService } from "../../gen/offledger/instrument_configuration/v0/instrument_configuration_service_pb.js";
import { OperatorService } from "../../gen/offledger/operator/v0/operator_service_pb.js";
import { call } from "../fixtures/calls/build.js";
import {
  allocationFactory,
  burnMintFactory,
  configuration,
  configurationPage,
  createIssuance,
  executeTransfer,
  type Form,
  info,
  instrument as instrumentCall,
  instruments,
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

export type OtherRequest =
  | { readonly operation: "packages" }
  | { readonly operation: "configuration-page"; readonly page: number; readonly size: number }
  | { readonly operation: "instrument"; readonly registrar: string; readonly id: string }
  | { readonly operation: "instrument-page"; readonly registrar: string; readonly size: number };
export type Request = ModelRequest | OtherRequest;

/** A request that names contracts of the ledger as it is when the request is sent. */
export type Draft = (ledger: Ledger) => Request;

const other = fc.oneof(
  fc.constant<OtherRequest>({ operation: "packages" }),
  fc.record({
    operation: fc.constant("configuration-page" as const),
    page: fc.constantFrom(0, 1),
    size: fc.constantFrom(1, 3),
  }),
  fc.record({ operation: fc.constant("instrument" as const), registrar: namedRegistrar, id: instrument }),
  fc.record({
    operation: fc.constant("instrument-page" as const),
    registrar: namedRegistrar,
    size: fc.constantFrom(1, 3),
  }),
);

const meta = { values: {} };
const account = (owner: string): JsonObject => ({ owner, provider: null, id: "" });
/** The limit of the model's settings. */
const PARTIES = 60;

/** A settlement of so many parties that its response has no list of tags. */
const large = fc.constantFrom(...registrars.slice(0, 2)).map((registrar): Request => {
  const parties = Array.from({ length: PARTIES }, (_, index) => traders[index] ?? `owner-${index}::1220`);
  const extraArgs = { context: { values: {} }, meta };
  const legs = parties.map((party, index): JsonObject => ({
    sender: account(party),
    receiver: account(parties[(index + 1) % PARTIES] ?? party),
    instrumentId: "USD",
  }));
  const settlement = { executors: ["executor::1220"], id: "trade", cid: null, meta };
  const choiceArguments = { settlement, transferLegs: legs, allocations: [], actors: ["executor::1220"], extraArgs };
  return { operation: "settlement-factory", registrar, choiceArguments };
});

const always =
  (drawn: Request): Draft =>
  () =>
    drawn;

export const anyRequest: fc.Arbitrary<Draft> = fc.oneof(
  { weight: 16, arbitrary: ofModel },
  { weight: 2, arbitrary: other.map(always) },
  { weight: 1, arbitrary: large.map(always) },
);

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
      return configuration({ ...request.identifier }, request.registrar);
    case "instrument-configurations":
      return call(InstrumentConfigurationService.method.getAllInstrumentConfigurations);
    case "instruments":
      return instruments(request.registrar);
    case "supported-apis":
      return info(request.registrar);
    case "operator":
      return call(OperatorService.method.getOperator);
    case "packages":
      return call(OperatorService.method.getAllPackages);
    case "configuration-page":
      return configurationPage({ page: request.page, size: request.size });
    case "instrument":
      return instrumentCall(request.registrar, request.id);
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
