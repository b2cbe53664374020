/** What the console shows, beside the contracts. The composition root has it. */
import { AllocationService } from "../../gen/offledger/allocation/v1/allocation_service_pb.js";
import { BurnService } from "../../gen/offledger/burn/v0/burn_service_pb.js";
import type { WarningSchema } from "../../gen/offledger/console/v1/console_pb.js";
import type { CallSchema } from "../../gen/offledger/explain/v1/explain_pb.js";
import { MintService } from "../../gen/offledger/mint/v0/mint_service_pb.js";
import { TransferInstructionService } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { httpStatus } from "../domain/causes.js";
import type { Cause } from "../domain/errors.js";
import type { JsonObject } from "../domain/json.js";
import type { Choice, ChoiceCall, IssuanceChoice, Warning } from "../registry/sdk/registry.js";
import type { DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";

export interface ConsoleData {
  readonly version: string;
  /** The origin of the contracts. */
  readonly source: string;
  /** Undefined if the service is ready. */
  readonly notReadyReason: () => string | undefined;
  /** The latest warnings; undefined before the first check. */
  readonly warnings: () => FoundWarnings | undefined;
  /** Oldest first. */
  readonly freshness: () => readonly FreshnessPoint[];
  readonly requests: () => Promise<RequestCounts>;
  readonly refusals: () => readonly RefusedRequest[];
}

export interface FoundWarnings {
  readonly total: number;
  readonly warnings: readonly Warning[];
}

export interface FreshnessPoint {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly offset: number | undefined;
  /** Milliseconds since the contracts were last known to equal the ledger's. */
  readonly age: number | undefined;
  readonly reconnects: number | undefined;
}

export interface RequestCounts {
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly operations: readonly {
    readonly operation: string;
    readonly requests: number;
    /** By code. */
    readonly refusals: ReadonlyMap<string, number>;
  }[];
}

/** A request that the rules refused. */
export interface RefusedRequest {
  readonly requestId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly operation: string;
  readonly protocol: string;
  readonly status: string;
  readonly message: string;
  readonly causes: readonly Cause[];
  /** Undefined if it was too large to keep. */
  readonly request: JsonObject | undefined;
}

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

export const warningMessage = ({
  instrument = "",
  contractId = "",
  party = "",
  operations,
  refusal,
  problem,
  help,
  count = 1,
  ...more
}: Warning): MessageInitShape<typeof WarningSchema> => ({
  ...more,
  instrument,
  contractId,
  party,
  operations: [...operations],
  status: refusal === undefined ? 0 : httpStatus(refusal),
  problem: problem.toWellFormed(),
  help: help.toWellFormed(),
  count,
});
