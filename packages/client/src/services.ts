/** The services. Names end with the version: `offledger.mint.v0.MintService` is `MintServiceV0`. */
export { AllocationInstructionService as AllocationInstructionServiceV1 } from "./gen/offledger/allocation_instruction/v1/allocation_instruction_service_pb.js";
export { AllocationInstructionService as AllocationInstructionServiceV2 } from "./gen/offledger/allocation_instruction/v2/allocation_instruction_service_pb.js";
export { AllocationService as AllocationServiceV1 } from "./gen/offledger/allocation/v1/allocation_service_pb.js";
export { AllocationService as AllocationServiceV2 } from "./gen/offledger/allocation/v2/allocation_service_pb.js";
export { BurnMintInstructionService as BurnMintInstructionServiceV0 } from "./gen/offledger/burn_mint_instruction/v0/burn_mint_instruction_service_pb.js";
export { BurnService as BurnServiceV0 } from "./gen/offledger/burn/v0/burn_service_pb.js";
export { HealthService as HealthServiceV1 } from "./gen/offledger/health/v1/health_service_pb.js";
export { InstrumentConfigurationService as InstrumentConfigurationServiceV0 } from "./gen/offledger/instrument_configuration/v0/instrument_configuration_service_pb.js";
export { MetadataService as MetadataServiceV1 } from "./gen/offledger/metadata/v1/metadata_service_pb.js";
export { MintService as MintServiceV0 } from "./gen/offledger/mint/v0/mint_service_pb.js";
export { OperatorService as OperatorServiceV0 } from "./gen/offledger/operator/v0/operator_service_pb.js";
export { TransferInstructionService as TransferInstructionServiceV1 } from "./gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
export { TransferInstructionService as TransferInstructionServiceV2 } from "./gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
export { TransferService as TransferServiceV0 } from "./gen/offledger/transfer/v0/transfer_service_pb.js";
export { WatchService as WatchServiceV1 } from "./gen/offledger/watch/v1/watch_service_pb.js";
