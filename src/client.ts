/**
 * The module `offledger/client`: every service and message, for any transport of Connect.
 *
 *     const wallet = createClient(TransferInstructionV1, createConnectTransport({ baseUrl }));
 *     const { factoryId } = await wallet.getTransferFactory({ registrarParty, choiceArguments });
 *
 * Service names end with the version of their resource group. Messages of the utility API that share a name with the
 * token standard begin with `Utility`.
 */
export { AllocationInstructionService as AllocationInstructionV1 } from "../gen/offledger/allocation_instruction/v1/allocation_instruction_service_pb.js";
export { AllocationInstructionService as AllocationInstructionV2 } from "../gen/offledger/allocation_instruction/v2/allocation_instruction_service_pb.js";
export { AllocationService as AllocationV1 } from "../gen/offledger/allocation/v1/allocation_service_pb.js";
export { AllocationService as AllocationV2 } from "../gen/offledger/allocation/v2/allocation_service_pb.js";
export { BurnMintInstructionService as BurnMintInstructionV0 } from "../gen/offledger/burn_mint_instruction/v0/burn_mint_instruction_service_pb.js";
export { BurnService as BurnV0 } from "../gen/offledger/burn/v0/burn_service_pb.js";
export { HealthService as HealthV1 } from "../gen/offledger/health/v1/health_service_pb.js";
export { InstrumentConfigurationService as InstrumentConfigurationV0 } from "../gen/offledger/instrument_configuration/v0/instrument_configuration_service_pb.js";
export { MetadataService as MetadataV1 } from "../gen/offledger/metadata/v1/metadata_service_pb.js";
export { MintService as MintV0 } from "../gen/offledger/mint/v0/mint_service_pb.js";
export { OperatorService as OperatorV0 } from "../gen/offledger/operator/v0/operator_service_pb.js";
export { TransferInstructionService as TransferInstructionV1 } from "../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
export { TransferInstructionService as TransferInstructionV2 } from "../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
export { TransferService as TransferV0 } from "../gen/offledger/transfer/v0/transfer_service_pb.js";

/** The details of an error, for `ConnectError.findDetails`. */
export * from "../gen/google/rpc/error_details_pb.js";

export * from "../gen/offledger/allocation_instruction/v2/allocation_instruction_pb.js";
export * from "../gen/offledger/allocation/v1/allocation_pb.js";
export * from "../gen/offledger/burn_mint_instruction/v0/burn_mint_instruction_pb.js";
export * from "../gen/offledger/burn/v0/burn_pb.js";
export * from "../gen/offledger/choice_context/v1/choice_context_pb.js";
export * from "../gen/offledger/health/v1/health_pb.js";
export * from "../gen/offledger/instrument_configuration/v0/instrument_configuration_pb.js";
export * from "../gen/offledger/metadata/v1/metadata_pb.js";
export * from "../gen/offledger/mint/v0/mint_pb.js";
export * from "../gen/offledger/operator/v0/operator_pb.js";
export * from "../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
export * from "../gen/offledger/transfer/v0/transfer_pb.js";
export {
  type ChoiceContext as UtilityChoiceContext,
  ChoiceContextSchema as UtilityChoiceContextSchema,
  type DisclosedContract as UtilityDisclosedContract,
  DisclosedContractSchema as UtilityDisclosedContractSchema,
} from "../gen/offledger/utility/v0/choice_context_pb.js";
export {
  type FactoryWithChoiceContext as UtilityFactoryWithChoiceContext,
  FactoryWithChoiceContextSchema as UtilityFactoryWithChoiceContextSchema,
  type GetCreateContextRequest,
  GetCreateContextRequestSchema,
  type InstrumentId,
  InstrumentIdSchema,
} from "../gen/offledger/utility/v0/factory_pb.js";
