import type {
  GetTransferFactoryRequest,
  GetTransferInstructionContextRequest,
} from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { TransferInstructionService as V1 } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { TransferInstructionService as V2 } from "../../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
import type { QueryExecutor } from "../registry/executor.js";
import type { Choice } from "../registry/sdk/registry.js";
import { transferFactoryReply } from "./context-reply.js";
import { type Handlers, bind, type ServiceBinding } from "./service-binding.js";
import { executeChoiceContext, factoryQuery } from "./token-standard.js";

/** Transfer instructions. Versions 1 and 2 of the token standard have the same operations. */
export function transferInstructions(executor: QueryExecutor): ServiceBinding[] {
  const contextHandler = (choice: Choice) => (request: GetTransferInstructionContextRequest) =>
    executeChoiceContext(executor, choice, request, request.transferInstructionId);
  const handlers: Handlers<typeof V1> & Handlers<typeof V2> = {
    getTransferFactory: (request: GetTransferFactoryRequest) =>
      executor.execute((registry, context) =>
        transferFactoryReply(registry.transferFactory(context, factoryQuery(request)), request.excludeDebugFields),
      ),
    getTransferInstructionAcceptContext: contextHandler("transfer-instruction/accept"),
    getTransferInstructionRejectContext: contextHandler("transfer-instruction/reject"),
    getTransferInstructionWithdrawContext: contextHandler("transfer-instruction/withdraw"),
  };
  return [bind(V1, handlers), bind(V2, handlers)];
}
