/** The shared messages of the utility API. Names that the token standard uses too begin with `Utility`. */
export {
  type ChoiceContext as UtilityChoiceContext,
  ChoiceContextSchema as UtilityChoiceContextSchema,
  type DisclosedContract as UtilityDisclosedContract,
  DisclosedContractSchema as UtilityDisclosedContractSchema,
} from "./gen/offledger/utility/v0/choice_context_pb.js";
export {
  type FactoryWithChoiceContext as UtilityFactoryWithChoiceContext,
  FactoryWithChoiceContextSchema as UtilityFactoryWithChoiceContextSchema,
  type GetCreateContextRequest,
  GetCreateContextRequestSchema,
  type InstrumentId as UtilityInstrumentId,
  InstrumentIdSchema as UtilityInstrumentIdSchema,
} from "./gen/offledger/utility/v0/factory_pb.js";
export {
  type Metadata as UtilityMetadata,
  MetadataSchema as UtilityMetadataSchema,
  type Transfer as UtilityTransfer,
  TransferSchema as UtilityTransferSchema,
  type VerifyTransferProofRequest,
  VerifyTransferProofRequestSchema,
  type VerifyTransferProofResponse,
  VerifyTransferProofResponse_Status,
  VerifyTransferProofResponse_StatusSchema,
  VerifyTransferProofResponseSchema,
} from "./gen/offledger/transfer/v0/transfer_pb.js";
