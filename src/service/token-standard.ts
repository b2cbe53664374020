/** What the services of the token standard have in common. */
import type { GetSettlementFactoryRequest } from "../../gen/offledger/allocation/v2/allocation_pb.js";
import type { GetAllocationFactoryRequest } from "../../gen/offledger/allocation_instruction/v1/allocation_instruction_pb.js";
import type { JsonObject, JsonValue } from "../domain/json.js";
import type { QueryExecutor } from "../registry/executor.js";
import type { Recording } from "../registry/recorder.js";
import type { ApiVersion, Choice, ChoiceQuery, FactoryQuery } from "../registry/sdk/registry.js";
import { choiceArgumentsOf, type TypedArguments } from "./messages.js";

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

export function executeChoiceContext(
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
export function factoryHandler(
  executor: QueryExecutor,
  factory: "allocationFactory" | "settlementFactory",
  apiVersion: ApiVersion,
) {
  return (request: GetAllocationFactoryRequest | GetSettlementFactoryRequest, recording?: Recording) => {
    const common = factoryQuery(request, apiVersion);
    const query =
      factory === "settlementFactory" ? { ...common, executors: executorsIn(common.choiceArguments) } : common;
    return executor.execute((registry, context) => registry[factory](context, query), recording);
  };
}

/** Validation ensures that either `choiceArguments` or a typed form is set. */
export function factoryQuery(
  { registrarParty, choiceArguments, typedArguments }: FactoryRequest,
  apiVersion: ApiVersion,
): FactoryQuery {
  if (typedArguments.case === undefined) {
    const meta = fieldOf(choiceArguments?.extraArgs, "meta");
    return { registrar: registrarParty, choiceArguments: choiceArguments ?? {}, meta: asObject(meta), apiVersion };
  }
  // Typed arguments have no `extraArgs`.
  return {
    apiVersion,
    registrar: registrarParty,
    choiceArguments: choiceArgumentsOf(typedArguments),
    argumentsName: typedArguments.case,
  };
}

/** The rules say what is wrong with arguments of another form. */
function executorsIn(choiceArguments: JsonObject): readonly string[] | undefined {
  const executors = fieldOf(choiceArguments.settlement, "executors");
  return Array.isArray(executors) && executors.every((one) => typeof one === "string") ? executors : undefined;
}

const asObject = (value: JsonValue | undefined): JsonObject | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;

const fieldOf = (value: JsonValue | undefined, name: string): JsonValue | undefined => asObject(value)?.[name];
