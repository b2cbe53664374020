import { BurnMintInstructionService } from "../../gen/offledger/burn_mint_instruction/v0/burn_mint_instruction_service_pb.js";
import type { QueryExecutor } from "../registry/executor.js";
import { utilityFactoryReply } from "./messages/context-reply.js";
import { issuanceQuery } from "./issuance.js";
import { bind, type ServiceBinding } from "./service-binding.js";

export function burnMintInstructions(executor: QueryExecutor): ServiceBinding[] {
  return [
    bind(BurnMintInstructionService, {
      getBurnMintFactory({ instrumentId, inputHoldingCids, outputs }, recording) {
        const holders = outputs.map(({ owner }) => owner);
        const query = issuanceQuery(instrumentId, holders, inputHoldingCids);
        return executor.executeUtility(
          (utility, context) => utilityFactoryReply(utility.burnMintFactory(context, query)),
          recording,
        );
      },
    }),
  ];
}
