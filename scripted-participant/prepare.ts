/**
 * Prepares a transaction of one command. Daml is not interpreted: a test injects a failure of a choice as a fault. What
 * is checked is the request, and that each contract that it names can be found.
 */
import { createHash } from "node:crypto";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { JsonValue } from "../src/domain/json.js";
import { refusal } from "./errors.js";
import type { ScriptedLedger } from "./ledger.js";
import { ABSENT, type PrepareResponse } from "./messages.js";
import type { Preparation } from "./prepare-request.js";

/** The traffic of a prepared transaction: its bytes, and those of a response. */
const RESPONSE_BYTES = 700;

export function prepare(request: Preparation, ledger: ScriptedLedger): PrepareResponse {
  const { command, disclosedContracts, estimates } = request;
  for (const id of [command.contractId, ...contractIdsIn(command.choiceArgument)]) requireContract(id, request, ledger);
  const [disclosed] = disclosedContracts;
  const synchronizerId =
    request.synchronizerId ??
    disclosed?.synchronizerId ??
    ledger.contracts.get(command.contractId)?.synchronizerId ??
    ledger.synchronizerId;
  const transaction = transactionBytes(synchronizerId, request.commandId);
  const confirmationRequest = transaction.length + disclosedContracts.length * RESPONSE_BYTES;
  return {
    preparedTransaction: transaction.toString("base64"),
    preparedTransactionHash: createHash("sha256").update(transaction).digest("base64"),
    hashingSchemeVersion: "HASHING_SCHEME_VERSION_V2",
    hashingDetails: ABSENT,
    ...(estimates && {
      costEstimation: {
        estimationTimestamp: "2026-01-05T00:00:00Z",
        confirmationRequestTrafficCostEstimation: confirmationRequest,
        confirmationResponseTrafficCostEstimation: RESPONSE_BYTES,
        totalTrafficCostEstimation: confirmationRequest + RESPONSE_BYTES,
      },
    }),
  };
}

/** A contract has to be disclosed, or be active and visible to a party of the command. */
function requireContract(id: string, { parties, disclosedContracts }: Preparation, ledger: ScriptedLedger): void {
  if (disclosedContracts.some(({ contractId }) => contractId === id)) return;
  const contract = ledger.contracts.get(id);
  if (contract && [...contract.signatories, ...contract.observers].some((party) => parties.includes(party))) return;
  throw refusal("CONTRACT_NOT_FOUND", `Contract could not be found with id ${id}`, {
    resources: [["ErrorResource(CONTRACT_ID)", id]],
  });
}

/** The contract ids in an argument, of values of the token standard: `{ tag: "AV_ContractId", value }`. */
function contractIdsIn(value: JsonValue): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (!Array.isArray(value) && value.tag === "AV_ContractId" && typeof value.value === "string") return [value.value];
  return Object.values(value).flatMap(contractIdsIn);
}

/** A PreparedTransaction with its metadata: the submitter's command id and the synchronizer. Its nodes are left out. */
function transactionBytes(synchronizerId: string, commandId: string): Buffer {
  const submitter = new BinaryWriter().tag(2, WireType.LengthDelimited).string(commandId).finish();
  const metadata = new BinaryWriter()
    .tag(2, WireType.LengthDelimited)
    .bytes(submitter)
    .tag(3, WireType.LengthDelimited)
    .string(synchronizerId)
    .finish();
  const transaction = new BinaryWriter().tag(1, WireType.LengthDelimited).string("2.1").finish();
  const message = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(transaction);
  return Buffer.from(message.tag(2, WireType.LengthDelimited).bytes(metadata).finish());
}
