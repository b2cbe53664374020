/** The requests and responses, whose names are unique. */
export * from "./gen/offledger/allocation_instruction/v1/allocation_instruction_pb.js";
export * from "./gen/offledger/allocation_instruction/v2/allocation_instruction_pb.js";
export * from "./gen/offledger/allocation/v1/allocation_pb.js";
export * from "./gen/offledger/allocation/v2/allocation_pb.js";
export * from "./gen/offledger/burn_mint_instruction/v0/burn_mint_instruction_pb.js";
export * from "./gen/offledger/burn/v0/burn_pb.js";
export * from "./gen/offledger/choice_context/v1/choice_context_pb.js";
export * from "./gen/offledger/health/v1/health_pb.js";
export * from "./gen/offledger/instrument_configuration/v0/instrument_configuration_pb.js";
export * from "./gen/offledger/metadata/v1/metadata_pb.js";
export * from "./gen/offledger/mint/v0/mint_pb.js";
export * from "./gen/offledger/operator/v0/operator_pb.js";
export * from "./gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
export * from "./gen/offledger/watch/v1/watch_pb.js";
/** The details of an error, for `ConnectError.findDetails`. */
export * from "./gen/google/rpc/error_details_pb.js";
/** The causes of a refusal, another detail. */
export * from "./gen/offledger/refusal/v1/refusal_pb.js";
