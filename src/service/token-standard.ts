/** What every resource group of the token standard does alike. */
import type { GetFactoryRequest } from "../../gen/offledger/choice_context/v1/choice_context_pb.js";
import type { QueryExecutor } from "../registry/executor.js";
import type { Choice, FactoryQuery } from "../registry/sdk/registry.js";
import { contextReply, factoryReply } from "./context-reply.js";

/** The fields that every request for a choice context has. */
interface ContextRequest {
  readonly registrarParty: string;
  readonly excludeDebugFields: boolean;
}

export function contextOf(
  executor: QueryExecutor,
  choice: Choice,
  { registrarParty, excludeDebugFields }: ContextRequest,
  contractId: string,
) {
  const question = { registrar: registrarParty, contractId };
  return executor.execute((registry, context) =>
    contextReply(registry.choiceContext(context, choice, question), excludeDebugFields),
  );
}

/** The handler of a factory that has no kind. */
export function factoryOf(executor: QueryExecutor, factory: "allocationFactory" | "settlementFactory") {
  return (request: GetFactoryRequest) =>
    executor.execute((registry, context) =>
      factoryReply(registry[factory](context, factoryQuestion(request)), request.excludeDebugFields),
    );
}

/** Validation has seen to it that the choice arguments are there. */
export function factoryQuestion({ registrarParty, choiceArguments = {} }: GetFactoryRequest): FactoryQuery {
  return { registrar: registrarParty, choiceArguments };
}
