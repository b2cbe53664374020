/** What the services for minting and burning have in common. Their paths name no registrar. */
import type { GetBurnRequestCreateContextRequest } from "../../gen/offledger/burn/v0/burn_pb.js";
import type { GetCreateContextRequest, InstrumentId } from "../../gen/offledger/utility/v0/factory_pb.js";
import type { QueryExecutor } from "../registry/executor.js";
import type { Recording } from "../registry/recorder.js";
import type { IssuanceChoice, IssuanceInstruction, IssuanceQuery } from "../registry/sdk/registry.js";
import { utilityContextReply, utilityFactoryReply } from "./messages/context-reply.js";

export function createHandler(executor: QueryExecutor, instruction: IssuanceInstruction) {
  return (request: GetCreateContextRequest | GetBurnRequestCreateContextRequest, recording?: Recording) => {
    const { holder, instrumentId } = request;
    const burned = "holdingContractIds" in request ? request.holdingContractIds : [];
    const query = issuanceQuery(instrumentId, [holder], burned);
    return executor.executeUtility(
      (utility, context) => utilityFactoryReply(utility.issuanceFactory(context, instruction, query)),
      recording,
    );
  };
}

export function executeIssuanceContext(
  executor: QueryExecutor,
  choice: IssuanceChoice,
  contractId: string,
  recording?: Recording,
) {
  const query = { registrar: undefined, contractId };
  return executor.executeUtility(
    (utility, context) => utilityContextReply(utility.issuanceContext(context, choice, query)),
    recording,
  );
}

/** Validation ensures that `instrument` is set. */
export function issuanceQuery(
  instrument: InstrumentId | undefined,
  holders: readonly string[],
  inputHoldings: readonly string[],
): IssuanceQuery {
  return { registrar: instrument?.admin ?? "", instrumentId: instrument?.id ?? "", holders, inputHoldings };
}
