import type { DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { AllocationService } from "../../../gen/offledger/allocation/v1/allocation_service_pb.js";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import type { CallSchema } from "../../../gen/offledger/explain/v1/explain_pb.js";
import { MintService } from "../../../gen/offledger/mint/v0/mint_service_pb.js";
import { TransferInstructionService } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import type { Choice, ChoiceCall, IssuanceChoice } from "../../registry/sdk/registry.js";

/** The rpc of a choice, and the field of its request for the contract. */
type ChoiceRpc = readonly [method: DescMethodUnary, contractField: string];

const { method: transfer } = TransferInstructionService;
const { method: allocation } = AllocationService;
const { method: mint } = MintService;
const { method: burn } = BurnService;

const rpcs: Readonly<Record<Choice | IssuanceChoice, ChoiceRpc | undefined>> = {
  "transfer-instruction/accept": [transfer.getTransferInstructionAcceptContext, "transferInstructionId"],
  "transfer-instruction/reject": [transfer.getTransferInstructionRejectContext, "transferInstructionId"],
  "transfer-instruction/withdraw": [transfer.getTransferInstructionWithdrawContext, "transferInstructionId"],
  // They have operations in version 2 only, and this service none that answers.
  "allocation-instruction/accept": undefined,
  "allocation-instruction/withdraw": undefined,
  "allocation/execute-transfer": [allocation.getAllocationTransferContext, "allocationId"],
  "allocation/withdraw": [allocation.getAllocationWithdrawContext, "allocationId"],
  "allocation/cancel": [allocation.getAllocationCancelContext, "allocationId"],
  "mint-offer/accept": [mint.getMintOfferAcceptContext, "mintOfferId"],
  "mint-offer/reject": [mint.getMintOfferRejectContext, "mintOfferId"],
  "mint-offer/cancel": [mint.getMintOfferCancelContext, "mintOfferId"],
  "mint-request/accept": [mint.getMintRequestAcceptContext, "mintRequestId"],
  "mint-request/reject": [mint.getMintRequestRejectContext, "mintRequestId"],
  "mint-request/cancel": [mint.getMintRequestCancelContext, "mintRequestId"],
  "burn-offer/accept": [burn.getBurnOfferAcceptContext, "burnOfferId"],
  "burn-offer/reject": [burn.getBurnOfferRejectContext, "burnOfferId"],
  "burn-offer/cancel": [burn.getBurnOfferCancelContext, "burnOfferId"],
  "burn-request/accept": [burn.getBurnRequestAcceptContext, "burnRequestId"],
  "burn-request/reject": [burn.getBurnRequestRejectContext, "burnRequestId"],
  "burn-request/cancel": [burn.getBurnRequestCancelContext, "burnRequestId"],
};

/** The request for the context of a choice; undefined if there is no operation for it. */
export function choiceCallMessage({ choice, query }: ChoiceCall): MessageInitShape<typeof CallSchema> | undefined {
  const rpc = rpcs[choice];
  if (rpc === undefined) return undefined;
  const [method, contractField] = rpc;
  // Only the token standard's requests name the registrar.
  const hasRegistrar = query.registrar !== undefined && "registrarParty" in method.input.field;
  return {
    operation: `${method.parent.typeName}/${method.name}`,
    request: { ...(hasRegistrar && { registrarParty: query.registrar }), [contractField]: query.contractId },
  };
}
