/**
 * The operations of the token standard on transfers and allocations, in versions 1 and 2. Messages become queries; the
 * registry answers.
 */
import type { GetAllocationContextRequest } from "../../gen/offledger/allocation/v1/allocation_pb.js";
import { AllocationService as AllocationV1 } from "../../gen/offledger/allocation/v1/allocation_service_pb.js";
import type { GetSettlementFactoryRequest } from "../../gen/offledger/allocation/v2/allocation_pb.js";
import { AllocationService as AllocationV2 } from "../../gen/offledger/allocation/v2/allocation_service_pb.js";
import type { GetAllocationFactoryRequest } from "../../gen/offledger/allocation_instruction/v1/allocation_instruction_pb.js";
import { AllocationInstructionService as AllocationInstructionV1 } from "../../gen/offledger/allocation_instruction/v1/allocation_instruction_service_pb.js";
import type { GetAllocationInstructionContextRequest } from "../../gen/offledger/allocation_instruction/v2/allocation_instruction_pb.js";
import { AllocationInstructionService as AllocationInstructionV2 } from "../../gen/offledger/allocation_instruction/v2/allocation_instruction_service_pb.js";
import type {
  GetTransferFactoryRequest,
  GetTransferInstructionContextRequest,
} from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { TransferInstructionService as TransferV1 } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { TransferInstructionService as TransferV2 } from "../../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
import { isObject, type JsonObject, valueAt } from "../domain/json.js";
import type { Result, QueryExecutor } from "./executor.js";
import type { Recording } from "./recorder.js";
import type {
  ApiVersion,
  Choice,
  ChoiceQuery,
  FactoryQuery,
  TransferFactoryResult,
  TransferKind,
} from "../registry/sdk/registry.js";
import { choiceArgumentsOf, type TypedArguments } from "./messages.js";
import { bind, type Handlers, type ServiceBinding } from "./service-binding.js";

/** Counts the transfer factories that are given, for metrics. */
export interface TransferCounter {
  /** `instrumentId` is undefined if the registry does not say it. Must not throw. */
  count(registrar: string, instrumentId: string | undefined, transferKind: TransferKind): void;
}

/** Both versions have the same operations. */
export function transferInstructions(executor: QueryExecutor, transfers?: TransferCounter): ServiceBinding[] {
  const contextHandler =
    (choice: Choice, version: ApiVersion) => (request: GetTransferInstructionContextRequest, recording?: Recording) =>
      executeChoiceContext(executor, choice, version, request, request.transferInstructionId, recording);
  const handlers = (apiVersion: ApiVersion): Handlers<typeof TransferV1> & Handlers<typeof TransferV2> => ({
    getTransferFactory(request: GetTransferFactoryRequest, recording?: Recording) {
      const query = factoryQuery(request, apiVersion);
      const answer = executor.execute(
        (registry, context) => registry.transferFactory(context, query),
        recording,
        ({ inputHoldings }, view) => inputHoldings?.transferFactory?.(view, query),
      );
      if (transfers === undefined) return answer;
      const { registrarParty } = request;
      // Not in the query, which may run again when the store has caught up.
      if (answer instanceof Promise) return answer.then((arrived) => counted(transfers, registrarParty, arrived));
      return counted(transfers, registrarParty, answer);
    },
    getTransferInstructionAcceptContext: contextHandler("transfer-instruction/accept", apiVersion),
    getTransferInstructionRejectContext: contextHandler("transfer-instruction/reject", apiVersion),
    getTransferInstructionWithdrawContext: contextHandler("transfer-instruction/withdraw", apiVersion),
  });
  return [bind(TransferV1, handlers("v1")), bind(TransferV2, handlers("v2"))];
}

function counted(
  transfers: TransferCounter,
  registrar: string,
  answer: Result<TransferFactoryResult>,
): Result<TransferFactoryResult> {
  const { instrumentId, transferKind } = answer.value;
  transfers.count(registrar, instrumentId, transferKind);
  return answer;
}

export function allocationInstructions(executor: QueryExecutor): ServiceBinding[] {
  const getAllocationFactory = (version: ApiVersion) => factoryHandler(executor, "allocationFactory", version);
  const contextHandler = (choice: Choice) => (request: GetAllocationInstructionContextRequest, recording?: Recording) =>
    executeChoiceContext(executor, choice, "v2", request, request.allocationInstructionId, recording);
  return [
    bind(AllocationInstructionV1, { getAllocationFactory: getAllocationFactory("v1") }),
    bind(AllocationInstructionV2, {
      getAllocationFactory: getAllocationFactory("v2"),
      getAllocationInstructionAcceptContext: contextHandler("allocation-instruction/accept"),
      getAllocationInstructionWithdrawContext: contextHandler("allocation-instruction/withdraw"),
    }),
  ];
}

/** Allocations and their settlement. */
export function allocations(executor: QueryExecutor): ServiceBinding[] {
  const contextHandler =
    (choice: Choice, version: ApiVersion) => (request: GetAllocationContextRequest, recording?: Recording) =>
      executeChoiceContext(executor, choice, version, request, request.allocationId, recording);
  const shared = (version: ApiVersion) => ({
    getAllocationWithdrawContext: contextHandler("allocation/withdraw", version),
    getAllocationCancelContext: contextHandler("allocation/cancel", version),
  });
  return [
    bind(AllocationV1, {
      ...shared("v1"),
      getAllocationTransferContext: contextHandler("allocation/execute-transfer", "v1"),
    }),
    bind(AllocationV2, { ...shared("v2"), getSettlementFactory: factoryHandler(executor, "settlementFactory", "v2") }),
  ];
}

interface ContextRequest {
  readonly registrarParty: string;
  readonly meta?: JsonObject | undefined;
}

/** What the requests for factories have in common. */
interface FactoryRequest {
  readonly registrarParty: string;
  readonly choiceArguments?: JsonObject | undefined;
  /** Unset where `choiceArguments` is set. */
  readonly typedArguments: TypedArguments;
}

function executeChoiceContext(
  executor: QueryExecutor,
  choice: Choice,
  apiVersion: ApiVersion,
  { registrarParty, meta }: ContextRequest,
  contractId: string,
  recording?: Recording,
) {
  const query: ChoiceQuery = { registrar: registrarParty, contractId, meta, apiVersion };
  return executor.execute((registry, context) => registry.choiceContext(context, choice, query), recording);
}

/** The handler of a factory without transfer kind. */
function factoryHandler(
  executor: QueryExecutor,
  factory: "allocationFactory" | "settlementFactory",
  apiVersion: ApiVersion,
) {
  return (request: GetAllocationFactoryRequest | GetSettlementFactoryRequest, recording?: Recording) => {
    const query = factoryQuery(request, apiVersion);
    return executor.execute(
      (registry, context) => registry[factory](context, query),
      recording,
      ({ inputHoldings }, view) => inputHoldings?.[factory]?.(view, query),
    );
  };
}

/** Validation ensures that either `choiceArguments` or a typed form is set. */
function factoryQuery(
  { registrarParty, choiceArguments, typedArguments }: FactoryRequest,
  apiVersion: ApiVersion,
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
