import type { Call, Json, JsonObject } from "../messages.js";

/** The command that a wallet sends with the answer to a request, as far as the request tells. */
export interface Command {
  readonly actAs: string;
  readonly templateId: string;
  readonly contractId: string;
  readonly choice: string;
  readonly choiceArgument: JsonObject;
}

const TRANSFER = "#splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1";
const ALLOCATION = "#splice-api-token-allocation-v1:Splice.Api.Token.AllocationV1";
const ALLOCATION_INSTRUCTION = "#splice-api-token-allocation-instruction-v1:Splice.Api.Token.AllocationInstructionV1";

/** Interface and choice of the token standard, by operation. Others are filled in by the user. */
const CHOICES: Readonly<Record<string, readonly [templateId: string, choice: string]>> = {
  "transfer_instruction.v1.TransferInstructionService/GetTransferFactory": [
    `${TRANSFER}:TransferFactory`,
    "TransferFactory_Transfer",
  ],
  "transfer_instruction.v1.TransferInstructionService/GetTransferInstructionAcceptContext": [
    `${TRANSFER}:TransferInstruction`,
    "TransferInstruction_Accept",
  ],
  "transfer_instruction.v1.TransferInstructionService/GetTransferInstructionRejectContext": [
    `${TRANSFER}:TransferInstruction`,
    "TransferInstruction_Reject",
  ],
  "transfer_instruction.v1.TransferInstructionService/GetTransferInstructionWithdrawContext": [
    `${TRANSFER}:TransferInstruction`,
    "TransferInstruction_Withdraw",
  ],
  "allocation_instruction.v1.AllocationInstructionService/GetAllocationFactory": [
    `${ALLOCATION_INSTRUCTION}:AllocationFactory`,
    "AllocationFactory_Allocate",
  ],
  "allocation.v1.AllocationService/GetAllocationTransferContext": [
    `${ALLOCATION}:Allocation`,
    "Allocation_ExecuteTransfer",
  ],
  "allocation.v1.AllocationService/GetAllocationWithdrawContext": [`${ALLOCATION}:Allocation`, "Allocation_Withdraw"],
  "allocation.v1.AllocationService/GetAllocationCancelContext": [`${ALLOCATION}:Allocation`, "Allocation_Cancel"],
};

const EXTRA_ARGS: JsonObject = { context: { values: {} }, meta: { values: {} } };

/** What the form of a command begins with. */
export function commandOf({ operation = "", request = {} }: Call): Command {
  const [templateId = "", choice = ""] = CHOICES[operation.replace(/^offledger\./, "")] ?? [];
  const sent = objectOf(request["choiceArguments"]);
  const transfer = objectOf(sent["transfer"]);
  const id = request["transferInstructionId"] ?? request["allocationId"];
  return {
    actAs: typeof transfer["sender"] === "string" ? transfer["sender"] : "",
    templateId,
    contractId: typeof id === "string" ? id : "",
    choice,
    choiceArgument: { ...sent, extraArgs: { ...EXTRA_ARGS, ...objectOf(sent["extraArgs"]) } },
  };
}

const objectOf = (json: Json | undefined): JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json) ? (json as JsonObject) : {};
