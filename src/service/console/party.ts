import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetPartyResponseSchema, PendingInstructionSchema } from "../../../gen/offledger/console/v1/console_pb.js";
import type { PartyResults } from "../../registry/party-search.js";
import type { FoundInstruction } from "../../registry/sdk/registry.js";
import { causeMessage } from "../messages/cause.js";
import { contractMessage, type PackageVersion } from "../explain/contract-message.js";
import { timestamp } from "../messages/timestamp.js";
import { choiceCallMessage } from "./choice-call.js";

/** Of one instruction, and of one credential. */
const MAX_CAUSES = 20;
const MAX_CLAIMS = 200;

export const partyMessage = (
  { credentials, preapprovals, instructions, isComplete }: PartyResults,
  packageVersion: PackageVersion,
): MessageInitShape<typeof GetPartyResponseSchema> => ({
  credentials: credentials.map(({ contract, issuer, holder, claims, validFrom, validUntil }) => ({
    contract: contractMessage(contract, packageVersion),
    issuer,
    holder,
    claims: claims.slice(0, MAX_CLAIMS),
    ...(validFrom !== undefined && { validFrom: timestamp(validFrom) }),
    ...(validUntil !== undefined && { validUntil: timestamp(validUntil) }),
  })),
  preapprovals: preapprovals.map(({ contract, registrar, instruments }) => ({
    contract: contractMessage(contract, packageVersion),
    registrar,
    instruments: [...instruments],
  })),
  instructions: instructions.map((found) => instructionMessage(found, packageVersion)),
  incomplete: !isComplete,
});

function instructionMessage(
  { contract, registrar, instruments, sender = "", receiver = "", causes, completion }: FoundInstruction,
  packageVersion: PackageVersion,
): MessageInitShape<typeof PendingInstructionSchema> {
  const call = completion === undefined ? undefined : choiceCallMessage(completion);
  return {
    contract: contractMessage(contract, packageVersion),
    registrar,
    instruments: [...instruments],
    sender,
    receiver,
    causes: causes.slice(0, MAX_CAUSES).map(causeMessage),
    ...(call !== undefined && { completion: call }),
  };
}
