import { type DescMessage, type Message, toJson } from "@bufbuild/protobuf";
import {
  type AllocateArguments as AllocateV1,
  AllocateArgumentsSchema as AllocateV1Schema,
} from "../../../gen/offledger/choice_arguments/v1/allocation_pb.js";
import {
  type TransferArguments as TransferV1,
  TransferArgumentsSchema as TransferV1Schema,
} from "../../../gen/offledger/choice_arguments/v1/transfer_pb.js";
import {
  type AllocateArguments as AllocateV2,
  AllocateArgumentsSchema as AllocateV2Schema,
} from "../../../gen/offledger/choice_arguments/v2/allocation_pb.js";
import {
  type SettleBatchArguments as SettleBatchV2,
  SettleBatchArgumentsSchema as SettleBatchV2Schema,
} from "../../../gen/offledger/choice_arguments/v2/settlement_pb.js";
import {
  type TransferArguments as TransferV2,
  TransferArgumentsSchema as TransferV2Schema,
} from "../../../gen/offledger/choice_arguments/v2/transfer_pb.js";
import { invalid } from "../../domain/errors.js";
import type { JsonObject } from "../../domain/json.js";

/** The typed forms of choice arguments, as the requests for factories have them in a oneof. */
export type TypedArguments =
  | { readonly case: "transferV1"; readonly value: TransferV1 }
  | { readonly case: "transferV2"; readonly value: TransferV2 }
  | { readonly case: "allocateV1"; readonly value: AllocateV1 }
  | { readonly case: "allocateV2"; readonly value: AllocateV2 }
  | { readonly case: "settleBatchV2"; readonly value: SettleBatchV2 }
  | { readonly case: undefined };

type SetArguments = Exclude<TypedArguments, { readonly case: undefined }>;

const schemas: Readonly<Record<SetArguments["case"], DescMessage>> = {
  transferV1: TransferV1Schema,
  transferV2: TransferV2Schema,
  allocateV1: AllocateV1Schema,
  allocateV2: AllocateV2Schema,
  settleBatchV2: SettleBatchV2Schema,
};

/** The ledger sends `extraArgs` with the choice; it is empty when a context is asked for. */
const EXTRA_ARGS = { context: { values: {} }, meta: { values: {} } };

/**
 * Typed arguments as the JSON Ledger API encodes them, which is their JSON in protobuf: the fields have the names of
 * the Daml records. Empty lists and texts are written, as the ledger writes them. Throws RegistryError "invalid" for a
 * value that has no JSON, such as a time beyond the year 9999.
 */
export function choiceArgumentsOf(typed: SetArguments): JsonObject {
  return { ...toJsonObject(schemas[typed.case], typed.value, typed.case), extraArgs: EXTRA_ARGS };
}

function toJsonObject(schema: DescMessage, message: Message, name: string): JsonObject {
  try {
    // A message that is no well-known type is an object in JSON.
    return toJson(schema, message, { alwaysEmitImplicit: true }) as JsonObject;
  } catch (error) {
    throw invalid(`${name} cannot be encoded: ${error instanceof Error ? error.message : String(error)}`);
  }
}
