/** What the services of the token standard have in common. */
import type { GetFactoryRequest } from "../../gen/offledger/choice_context/v1/choice_context_pb.js";
import type { QueryExecutor } from "../registry/executor.js";
import type { Choice, FactoryQuery } from "../registry/sdk/registry.js";
import { contextReply, factoryReply } from "./context-reply.js";

interface ContextRequest {
  readonly registrarParty: string;
  readonly excludeDebugFields: boolean;
}

export function executeChoiceContext(
  executor: QueryExecutor,
  choice: Choice,
  { registrarParty, excludeDebugFields }: ContextRequest,
  contractId: string,
) {
  const query = { registrar: registrarParty, contractId };
  return executor.execute((registry, context) =>
    contextReply(registry.choiceContext(context, choice, query), excludeDebugFields),
  );
}

/** The handler of a factory without transfer kind. */
export function factoryHandler(executor: QueryExecutor, factory: "allocationFactory" | "settlementFactory") {
  return (request: GetFactoryRequest) =>
    executor.execute((registry, context) =>
      factoryReply(registry[factory](context, factoryQuery(request)), request.excludeDebugFields),
    );
}

/** Validation ensures that `choiceArguments` is set. */
export function factoryQuery({ registrarParty, choiceArguments = {} }: GetFactoryRequest): FactoryQuery {
  return { registrar: registrarParty, choiceArguments };
}
