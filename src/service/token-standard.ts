/** What every resource group of the token standard does alike. */
import type { GetFactoryRequest } from "../../gen/offledger/choice_context/v1/choice_context_pb.js";
import type { Engine } from "../registry/engine.js";
import type { Choice, FactoryQuestion } from "../registry/registry.js";
import { contextReply, factoryReply } from "./context-reply.js";

/** The fields that every request for a choice context has. */
interface ContextRequest {
  readonly registrarParty: string;
  readonly excludeDebugFields: boolean;
}

export function contextOf(
  engine: Engine,
  choice: Choice,
  { registrarParty, excludeDebugFields }: ContextRequest,
  contractId: string,
) {
  const question = { registrar: registrarParty, contractId };
  return engine.ask((registry, scene) =>
    contextReply(registry.choiceContext(scene, choice, question), excludeDebugFields),
  );
}

/** The handler of a factory that has no kind. */
export function factoryOf(engine: Engine, factory: "allocationFactory" | "settlementFactory") {
  return (request: GetFactoryRequest) =>
    engine.ask((registry, scene) =>
      factoryReply(registry[factory](scene, factoryQuestion(request)), request.excludeDebugFields),
    );
}

/** Validation has seen to it that the choice arguments are there. */
export function factoryQuestion({ registrarParty, choiceArguments = {} }: GetFactoryRequest): FactoryQuestion {
  return { registrar: registrarParty, choiceArguments };
}
