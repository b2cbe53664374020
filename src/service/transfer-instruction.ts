import type {
  GetTransferFactoryRequest,
  GetTransferInstructionContextRequest,
} from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { TransferInstructionService as V1 } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { TransferInstructionService as V2 } from "../../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
import type { Answer, QueryExecutor } from "../registry/executor.js";
import type { Recording } from "../registry/recorder.js";
import type { ApiVersion, Choice, TransferFactoryAnswer, TransferKind } from "../registry/sdk/registry.js";
import { type Handlers, bind, type ServiceBinding } from "./service-binding.js";
import { executeChoiceContext, factoryQuery } from "./token-standard.js";

/** Counts the transfer factories that are given, for metrics. */
export interface TransferCounter {
  /** `instrumentId` is undefined if the registry does not say it. Must not throw. */
  count(registrar: string, instrumentId: string | undefined, transferKind: TransferKind): void;
}

/** Transfer instructions. Versions 1 and 2 of the token standard have the same operations. */
export function transferInstructions(executor: QueryExecutor, transfers?: TransferCounter): ServiceBinding[] {
  const contextHandler =
    (choice: Choice, version: ApiVersion) => (request: GetTransferInstructionContextRequest, recording?: Recording) =>
      executeChoiceContext(executor, choice, version, request, request.transferInstructionId, recording);
  const handlers = (apiVersion: ApiVersion): Handlers<typeof V1> & Handlers<typeof V2> => ({
    getTransferFactory(request: GetTransferFactoryRequest, recording?: Recording) {
      const query = factoryQuery(request, apiVersion);
      const answer = executor.execute((registry, context) => registry.transferFactory(context, query), recording);
      if (transfers === undefined) return answer;
      const { registrarParty } = request;
      // Not in the query, which a store may run several times.
      if (answer instanceof Promise) return answer.then((arrived) => counted(transfers, registrarParty, arrived));
      return counted(transfers, registrarParty, answer);
    },
    getTransferInstructionAcceptContext: contextHandler("transfer-instruction/accept", apiVersion),
    getTransferInstructionRejectContext: contextHandler("transfer-instruction/reject", apiVersion),
    getTransferInstructionWithdrawContext: contextHandler("transfer-instruction/withdraw", apiVersion),
  });
  return [bind(V1, handlers("v1")), bind(V2, handlers("v2"))];
}

function counted(
  transfers: TransferCounter,
  registrar: string,
  answer: Answer<TransferFactoryAnswer>,
): Answer<TransferFactoryAnswer> {
  const { instrumentId, transferKind } = answer.value;
  transfers.count(registrar, instrumentId, transferKind);
  return answer;
}
