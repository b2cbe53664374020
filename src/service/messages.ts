/** What messages have in common: contexts, disclosed contracts, typed choice arguments, causes, times. */
import type { GetSettlementFactoryRequest } from "../../gen/offledger/allocation/v2/allocation_pb.js";
import type { GetAllocationFactoryRequest } from "../../gen/offledger/allocation_instruction/v1/allocation_instruction_pb.js";
import { AllocateArgumentsSchema as AllocateV1Schema } from "../../gen/offledger/choice_arguments/v1/allocation_pb.js";
import { TransferArgumentsSchema as TransferV1Schema } from "../../gen/offledger/choice_arguments/v1/transfer_pb.js";
import { AllocateArgumentsSchema as AllocateV2Schema } from "../../gen/offledger/choice_arguments/v2/allocation_pb.js";
import { SettleBatchArgumentsSchema as SettleBatchV2Schema } from "../../gen/offledger/choice_arguments/v2/settlement_pb.js";
import { TransferArgumentsSchema as TransferV2Schema } from "../../gen/offledger/choice_arguments/v2/transfer_pb.js";
import type { CauseSchema } from "../../gen/offledger/refusal/v1/refusal_pb.js";
import type { GetTransferFactoryRequest } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { synchronizerOf } from "../domain/contract.js";
import { type Cause, invalid } from "../domain/errors.js";
import type { AnyValue, ContextResult, Contract, NamedValue } from "../registry/sdk/registry.js";
import {
  create,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type MessageInitShape,
  toJson,
} from "@bufbuild/protobuf";
import { type Struct, StructSchema, type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";

export function contractMeta(contract: Contract) {
  const synchronizerId = synchronizerOf(contract);
  return {
    contractId: contract.contractId,
    templateId: contract.templateId,
    createdAt: contract.createdAt,
    synchronizerId,
    domainId: synchronizerId,
  };
}

/** The values of a context as JSON, as the JSON Ledger API encodes them. */
export const contextJson = ({ values }: Pick<ContextResult, "values">): JsonObject => byName(values);

const byName = (values: readonly NamedValue[]): JsonObject =>
  Object.fromEntries(values.map(({ name, value }) => [name, asJson(value)]));

const asJson = (value: AnyValue): JsonObject => ({ tag: value.tag, value: valueJson(value) });

function valueJson({ tag, value }: AnyValue): JsonValue {
  switch (tag) {
    case "AV_List":
      return value.map(asJson);
    case "AV_Map":
      return byName(value);
    default:
      return value;
  }
}

/** A JSON object as a top-level message. As a field it needs no conversion. */
export function struct(value: JsonObject): Struct {
  return fromJson(StructSchema, value);
}

/** The typed forms of choice arguments, as the requests for factories have them in a oneof. */
export type TypedArguments = (
  | GetTransferFactoryRequest
  | GetAllocationFactoryRequest
  | GetSettlementFactoryRequest
)["typedArguments"];

type SetArguments = Exclude<TypedArguments, { case: undefined }>;

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
  try {
    // A message that is no well-known type is an object in JSON.
    const json = toJson(schemas[typed.case], typed.value, { alwaysEmitImplicit: true }) as JsonObject;
    return { ...json, extraArgs: EXTRA_ARGS };
  } catch (error) {
    throw invalid(`${typed.case} cannot be encoded: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The message for a cause. Strings are made fit for protobuf, which cannot encode lone surrogates. */
export function causeMessage(cause: Cause): MessageInitShape<typeof CauseSchema> {
  return {
    code: cause.code,
    message: cause.message.toWellFormed(),
    registrar: text(cause.registrar),
    instrument: text(cause.instrument),
    party: text(cause.party),
    issuer: text(cause.issuer),
    claims: (cause.claims ?? []).map(({ property, value }) => ({ property: text(property), value: text(value) })),
    contractId: text(cause.contractId),
    template: text(cause.template),
    synchronizers: (cause.synchronizers ?? []).map(text),
    field: text(cause.field),
    limit: text(cause.limit),
    maximum: cause.maximum ?? 0,
  };
}

const text = (value: string | undefined): string => value?.toWellFormed() ?? "";

const MICROS_PER_SECOND = 1_000_000;

/** Microseconds since 1970 as a message. */
export function timestamp(micros: number): Timestamp {
  const seconds = Math.floor(micros / MICROS_PER_SECOND);
  return create(TimestampSchema, {
    seconds: BigInt(seconds),
    nanos: (micros - seconds * MICROS_PER_SECOND) * 1_000,
  });
}
