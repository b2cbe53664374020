/** The arguments of choices, for `typedArguments`. Names that both versions use end with the version. */
export * from "./gen/offledger/choice_arguments/v1/common_pb.js";
export {
  type AllocateArguments as AllocateArgumentsV1,
  AllocateArgumentsSchema as AllocateArgumentsV1Schema,
  type AllocationSpecification as AllocationSpecificationV1,
  AllocationSpecificationSchema as AllocationSpecificationV1Schema,
  type SettlementInfo as SettlementInfoV1,
  SettlementInfoSchema as SettlementInfoV1Schema,
  type SettlementReference,
  SettlementReferenceSchema,
  type TransferLeg as TransferLegV1,
  TransferLegSchema as TransferLegV1Schema,
} from "./gen/offledger/choice_arguments/v1/allocation_pb.js";
export {
  type Transfer as TransferV1,
  TransferSchema as TransferV1Schema,
  type TransferArguments as TransferArgumentsV1,
  TransferArgumentsSchema as TransferArgumentsV1Schema,
} from "./gen/offledger/choice_arguments/v1/transfer_pb.js";
export {
  type AllocateArguments as AllocateArgumentsV2,
  AllocateArgumentsSchema as AllocateArgumentsV2Schema,
  type AllocationSpecification as AllocationSpecificationV2,
  AllocationSpecificationSchema as AllocationSpecificationV2Schema,
} from "./gen/offledger/choice_arguments/v2/allocation_pb.js";
export {
  type Account,
  AccountSchema,
  type SettlementInfo as SettlementInfoV2,
  SettlementInfoSchema as SettlementInfoV2Schema,
  type TransferLegSide,
  TransferLegSide_Side,
  TransferLegSide_SideSchema,
  TransferLegSideSchema,
} from "./gen/offledger/choice_arguments/v2/common_pb.js";
export {
  type AllocationToSettle,
  AllocationToSettleSchema,
  type SettleBatchArguments,
  SettleBatchArgumentsSchema,
  type TransferLeg as TransferLegV2,
  TransferLegSchema as TransferLegV2Schema,
} from "./gen/offledger/choice_arguments/v2/settlement_pb.js";
export {
  type Transfer as TransferV2,
  TransferSchema as TransferV2Schema,
  type TransferArguments as TransferArgumentsV2,
  TransferArgumentsSchema as TransferArgumentsV2Schema,
} from "./gen/offledger/choice_arguments/v2/transfer_pb.js";
