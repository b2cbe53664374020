/** What the services of the token standard have in common. */
import type { GetSettlementFactoryRequest } from "../../gen/offledger/allocation/v2/allocation_pb.js";
import type { GetAllocationFactoryRequest } from "../../gen/offledger/allocation_instruction/v1/allocation_instruction_pb.js";
import type { JsonObject } from "../domain/json.js";
import type { QueryExecutor } from "../registry/executor.js";
import type { Recording } from "../registry/recorder.js";
import type { Choice, FactoryQuery } from "../registry/sdk/registry.js";
import { choiceArgumentsOf, type TypedArguments } from "./messages/choice-arguments.js";
import { contextReply, factoryReply } from "./messages/context-reply.js";

/** The version of the token standard that a service, or a path, is of. */
export type ApiVersion = NonNullable<FactoryQuery["apiVersion"]>;

interface ContextRequest {
  readonly registrarParty: string;
  readonly excludeDebugFields: boolean;
}

/** What the requests for factories have in common. */
interface FactoryRequest {
  readonly registrarParty: string;
  readonly choiceArguments?: JsonObject | undefined;
  /** Unset where `choiceArguments` is set. */
  readonly typedArguments: TypedArguments;
}

export function executeChoiceContext(
  executor: QueryExecutor,
  choice: Choice,
  { registrarParty, excludeDebugFields }: ContextRequest,
  contractId: string,
  recording?: Recording,
) {
  const query = { registrar: registrarParty, contractId };
  return executor.execute(
    (registry, context) => contextReply(registry.choiceContext(context, choice, query), excludeDebugFields),
    recording,
  );
}

/** The handler of a factory without transfer kind. */
export function factoryHandler(
  executor: QueryExecutor,
  factory: "allocationFactory" | "settlementFactory",
  apiVersion: ApiVersion,
) {
  return (request: GetAllocationFactoryRequest | GetSettlementFactoryRequest, recording?: Recording) => {
    const query = factoryQuery(request, apiVersion);
    return executor.execute(
      (registry, context) => factoryReply(registry[factory](context, query), request.excludeDebugFields),
      recording,
    );
  };
}

/** Validation ensures that either `choiceArguments` or a typed form is set. */
export function factoryQuery(
  { registrarParty, choiceArguments, typedArguments }: FactoryRequest,
  apiVersion: ApiVersion,
): FactoryQuery {
  if (typedArguments.case === undefined)
    return { registrar: registrarParty, choiceArguments: choiceArguments ?? {}, apiVersion };
  return {
    apiVersion,
    registrar: registrarParty,
    choiceArguments: choiceArgumentsOf(typedArguments),
    argumentsName: typedArguments.case,
  };
}
