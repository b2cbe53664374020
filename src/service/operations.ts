/**
 * The operations of registries as rpcs: those of the token standard in versions 1 and 2, and those to mint and burn, whose
 * paths name no registrar. Messages become queries; the registry answers.
 */
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { AllocationService as AllocationV1 } from "../../gen/offledger/allocation/v1/allocation_service_pb.js";
import type { GetSettlementFactoryRequest } from "../../gen/offledger/allocation/v2/allocation_pb.js";
import { AllocationService as AllocationV2 } from "../../gen/offledger/allocation/v2/allocation_service_pb.js";
import type { GetAllocationFactoryRequest } from "../../gen/offledger/allocation_instruction/v1/allocation_instruction_pb.js";
import { AllocationInstructionService as AllocationInstructionV1 } from "../../gen/offledger/allocation_instruction/v1/allocation_instruction_service_pb.js";
import { AllocationInstructionService as AllocationInstructionV2 } from "../../gen/offledger/allocation_instruction/v2/allocation_instruction_service_pb.js";
import type { GetBurnRequestCreateContextRequest } from "../../gen/offledger/burn/v0/burn_pb.js";
import { BurnService } from "../../gen/offledger/burn/v0/burn_service_pb.js";
import type { GetBurnMintFactoryRequest } from "../../gen/offledger/burn_mint_instruction/v0/burn_mint_instruction_pb.js";
import { BurnMintInstructionService } from "../../gen/offledger/burn_mint_instruction/v0/burn_mint_instruction_service_pb.js";
import { MintService } from "../../gen/offledger/mint/v0/mint_service_pb.js";
import type { GetTransferFactoryRequest } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { TransferInstructionService as TransferV1 } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { TransferInstructionService as TransferV2 } from "../../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
import type { GetCreateContextRequest, InstrumentId } from "../../gen/offledger/utility/v0/factory_pb.js";
import { isObject, type JsonObject, valueAt } from "../util/json.js";
import { CHOICES, FACTORIES, ISSUANCE_CHOICES, ISSUANCE_FACTORIES } from "../registry/operation-names.js";
import type {
  ApiVersion,
  ChoiceQuery,
  FactoryQuery,
  IssuanceInstruction,
  IssuanceQuery,
  TransferFactoryResult,
  TransferKind,
} from "../registry/sdk/registry.js";
import type { QueryExecutor, Result } from "./executor.js";
import { choiceArgumentsOf, type TypedArguments } from "./messages.js";
import type { Recording } from "./recorder.js";
import type { ServiceBinding } from "./service-binding.js";

/** Each with its version of the token standard; undefined beyond it. */
const SERVICES: readonly (readonly [service: DescService, version: ApiVersion | undefined])[] = [
  [TransferV1, "v1"],
  [TransferV2, "v2"],
  [AllocationInstructionV1, "v1"],
  [AllocationInstructionV2, "v2"],
  [AllocationV1, "v1"],
  [AllocationV2, "v2"],
  [MintService, undefined],
  [BurnService, undefined],
  [BurnMintInstructionService, undefined],
];

const NAMES = [...FACTORIES, ...CHOICES, ...ISSUANCE_FACTORIES, ...ISSUANCE_CHOICES] as const;
type OperationName = (typeof NAMES)[number];

export interface OperationRpc {
  readonly operation: OperationName;
  readonly method: DescMethod;
  readonly version: ApiVersion | undefined;
}

/** The rpc of each operation, in each version that has it: `GetMintOfferAcceptContext` is of `mint-offer/accept`. */
export const OPERATION_RPCS: readonly OperationRpc[] = SERVICES.flatMap(([service, version]) =>
  service.methods.map((method) => rpcOf(method, version)),
);

function rpcOf(method: DescMethod, version: ApiVersion | undefined): OperationRpc {
  const operation = NAMES.find((name) => rpcName(name) === method.name);
  if (operation !== undefined) return { operation, method, version };
  throw new Error(`${method.parent.typeName}/${method.name} is the rpc of no operation`);
}

function rpcName(operation: OperationName): string {
  // The rpc of an allocation's transfer does not say "execute", unlike its path.
  const words = operation.replace("/execute-", "/").split(/[-/]/);
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return `Get${name}${operation.includes("/") ? "Context" : ""}`;
}

/** The field of the request of a choice that has the contract id: `mintOfferId` of `mint-offer/accept`. */
export function contractFieldOf({ operation, method }: OperationRpc): string {
  const kind = operation.replace(/\/.*/, "");
  const field = method.input.fields.find(({ name }) => name === `${kind.replaceAll("-", "_")}_id`);
  if (field === undefined) throw new Error(`${method.input.typeName} has no field for the id of the ${kind}`);
  return field.localName;
}

/** Counts the transfer factories that are given, for metrics. */
export interface TransferCounter {
  /** `instrumentId` is undefined if the registry does not say it. Must not throw. */
  count(registrar: string, instrumentId: string | undefined, transferKind: TransferKind): void;
}

export const operations = (executor: QueryExecutor, transfers?: TransferCounter): ServiceBinding[] =>
  SERVICES.map(([service, version]) => ({
    service,
    handlerOf: (method) => handlerOf(rpcOf(method, version), executor, transfers),
  }));

function handlerOf(
  rpc: OperationRpc,
  executor: QueryExecutor,
  transfers: TransferCounter | undefined,
): ReturnType<ServiceBinding["handlerOf"]> {
  const { operation, version } = rpc;
  if (isOneOf(CHOICES, operation))
    return choiceHandler(rpc, (query, recording) =>
      executor.execute((registry, context) => registry.choiceContext(context, operation, query), recording, {
        operation,
        query,
      }),
    );
  if (isOneOf(ISSUANCE_CHOICES, operation))
    return choiceHandler(rpc, (query, recording) =>
      executor.executeUtility((utility, context) => utility.issuanceContext(context, operation, query), recording, {
        operation,
        query,
      }),
    );
  switch (operation) {
    case "transfer-factory":
      return transferFactoryHandler(executor, version, transfers);
    case "allocation-factory":
    case "settlement-factory":
      return factoryHandler(executor, operation, version);
    case "burn-mint-factory":
      return burnMintHandler(executor);
    default:
      return createHandler(executor, operation);
  }
}

const isOneOf = <T extends string>(names: readonly T[], name: string): name is T => names.some((one) => one === name);

/** The contract id is beside them. */
interface ChoiceRequest {
  /** Unset where the path names none. */
  readonly registrarParty?: string;
  readonly meta?: JsonObject | undefined;
}

function choiceHandler<R>(rpc: OperationRpc, execute: (query: ChoiceQuery, recording?: Recording) => R) {
  const field = contractFieldOf(rpc) as "contractId";
  return (
    { registrarParty: registrar, meta, [field]: contractId }: ChoiceRequest & { readonly contractId: string },
    recording?: Recording,
  ) => execute({ registrar, contractId, meta, apiVersion: rpc.version }, recording);
}

function transferFactoryHandler(
  executor: QueryExecutor,
  apiVersion: ApiVersion | undefined,
  transfers: TransferCounter | undefined,
) {
  return (request: GetTransferFactoryRequest, recording?: Recording) => {
    const query = factoryQuery(request, apiVersion);
    const result = executor.execute((registry, context) => registry.transferFactory(context, query), recording, {
      operation: "transfer-factory",
      query,
    });
    const counted = (arrived: Result<TransferFactoryResult>) => {
      transfers?.count(query.registrar, arrived.value.instrumentId, arrived.value.transferKind);
      return arrived;
    };
    // Not in the query, which may run again when the store has caught up.
    return result instanceof Promise ? result.then(counted) : counted(result);
  };
}

/** The handler of a factory without transfer kind. */
function factoryHandler(
  executor: QueryExecutor,
  operation: "allocation-factory" | "settlement-factory",
  apiVersion: ApiVersion | undefined,
) {
  const factory = operation === "allocation-factory" ? "allocationFactory" : "settlementFactory";
  return (request: GetAllocationFactoryRequest | GetSettlementFactoryRequest, recording?: Recording) => {
    const query = factoryQuery(request, apiVersion);
    return executor.execute((registry, context) => registry[factory](context, query), recording, { operation, query });
  };
}

/** What the requests for factories have in common. */
interface FactoryRequest {
  readonly registrarParty: string;
  readonly choiceArguments?: JsonObject | undefined;
  /** Unset where `choiceArguments` is set. */
  readonly typedArguments: TypedArguments;
}

/** Validation ensures that either `choiceArguments` or a typed form is set. */
function factoryQuery(
  { registrarParty, choiceArguments, typedArguments }: FactoryRequest,
  apiVersion: ApiVersion | undefined,
): FactoryQuery {
  if (typedArguments.case === undefined) {
    const given = valueAt(choiceArguments, "extraArgs", "meta");
    const meta = isObject(given) ? given : undefined;
    return { registrar: registrarParty, choiceArguments: choiceArguments ?? {}, meta, apiVersion };
  }
  // Typed arguments have no `extraArgs`.
  return {
    apiVersion,
    registrar: registrarParty,
    choiceArguments: choiceArgumentsOf(typedArguments),
    argumentsName: typedArguments.case,
  };
}

function createHandler(executor: QueryExecutor, operation: `${IssuanceInstruction}/create`) {
  const instruction = operation.replace("/create", "") as IssuanceInstruction;
  return (request: GetCreateContextRequest | GetBurnRequestCreateContextRequest, recording?: Recording) => {
    const burned = "holdingContractIds" in request ? request.holdingContractIds : [];
    const query = issuanceQuery(request.instrumentId, [request.holder], burned);
    return executor.executeUtility(
      (utility, context) => utility.issuanceFactory(context, instruction, query),
      recording,
      { operation, query },
    );
  };
}

function burnMintHandler(executor: QueryExecutor) {
  return ({ instrumentId, inputHoldingCids, outputs }: GetBurnMintFactoryRequest, recording?: Recording) => {
    const holders = outputs.map(({ owner }) => owner);
    const query = issuanceQuery(instrumentId, holders, inputHoldingCids);
    return executor.executeUtility((utility, context) => utility.burnMintFactory(context, query), recording, {
      operation: "burn-mint-factory",
      query,
    });
  };
}

/** Validation ensures that `instrument` is set. */
const issuanceQuery = (
  instrument: InstrumentId | undefined,
  holders: readonly string[],
  inputHoldings: readonly string[],
): IssuanceQuery => ({
  registrar: instrument?.admin ?? "",
  instrumentId: instrument?.id ?? "",
  holders,
  inputHoldings,
});
