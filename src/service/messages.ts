/** What messages have in common: contexts, disclosed contracts, typed choice arguments, causes, times. */
import {
  type AllocateArguments as AllocateV1,
  AllocateArgumentsSchema as AllocateV1Schema,
} from "../../gen/offledger/choice_arguments/v1/allocation_pb.js";
import {
  type TransferArguments as TransferV1,
  TransferArgumentsSchema as TransferV1Schema,
} from "../../gen/offledger/choice_arguments/v1/transfer_pb.js";
import {
  type AllocateArguments as AllocateV2,
  AllocateArgumentsSchema as AllocateV2Schema,
} from "../../gen/offledger/choice_arguments/v2/allocation_pb.js";
import {
  type SettleBatchArguments as SettleBatchV2,
  SettleBatchArgumentsSchema as SettleBatchV2Schema,
} from "../../gen/offledger/choice_arguments/v2/settlement_pb.js";
import {
  type TransferArguments as TransferV2,
  TransferArgumentsSchema as TransferV2Schema,
} from "../../gen/offledger/choice_arguments/v2/transfer_pb.js";
import {
  type ChoiceContextDataSchema,
  ChoiceContextSchema,
  type DisclosedContractSchema,
  FactoryWithChoiceContextSchema,
} from "../../gen/offledger/choice_context/v1/choice_context_pb.js";
import type { CauseSchema } from "../../gen/offledger/refusal/v1/refusal_pb.js";
import {
  TransferFactoryWithChoiceContext_TransferKind as TransferKind,
  TransferFactoryWithChoiceContextSchema,
} from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { ChoiceContextSchema as UtilityChoiceContextSchema } from "../../gen/offledger/utility/v0/choice_context_pb.js";
import { FactoryWithChoiceContextSchema as UtilityFactorySchema } from "../../gen/offledger/utility/v0/factory_pb.js";
import { type Cause, invalid } from "../domain/errors.js";
import type {
  AnyValue,
  ContextAnswer,
  Contract,
  FactoryAnswer,
  NamedValue,
  TransferFactoryAnswer,
} from "../registry/sdk/registry.js";
import {
  create,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  type MessageInitShape,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import { type Struct, StructSchema, type Timestamp, TimestampSchema, ValueSchema } from "@bufbuild/protobuf/wkt";

/** The registry discloses only contracts that are not in reassignment. Throws if it failed to. */
export function synchronizerOf(contract: Contract): string {
  if (contract.synchronizerId !== undefined) return contract.synchronizerId;
  throw new Error(`contract ${contract.contractId} is in reassignment, but the registry put it into an answer`);
}

/** The context in the token standard's form (disclosed contracts of variant A). */
export function choiceContext(
  answer: ContextAnswer,
  excludeDebugFields: boolean,
): MessageInitShape<typeof ChoiceContextSchema> {
  const disclosedContracts = answer.disclosed.map((contract) => disclosed(contract, excludeDebugFields));
  return { choiceContextData: contextData(answer), disclosedContracts };
}

export function disclosed(
  contract: Contract,
  excludeDebugFields: boolean,
): MessageInitShape<typeof DisclosedContractSchema> {
  return {
    templateId: contract.templateId,
    contractId: contract.contractId,
    createdEventBlob: blobOf(contract),
    synchronizerId: synchronizerOf(contract),
    ...(excludeDebugFields ? {} : debugFields(contract)),
  };
}

/** The context in the utility operations' form (disclosed contracts of variant B). */
export function utilityChoiceContext(answer: ContextAnswer): MessageInitShape<typeof UtilityChoiceContextSchema> {
  return { choiceContextData: contextData(answer), disclosedContracts: answer.disclosed.map(disclosedByUtility) };
}

function disclosedByUtility(contract: Contract) {
  return { ...contractMeta(contract), createdEventBlob: blobOf(contract) };
}

const blobOf = ({ createdEventBlob }: Contract): Uint8Array => Buffer.from(createdEventBlob, "base64");

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

function debugFields({ template, payload, createdAt }: Contract) {
  const debugPayload = JSON.parse(payload) as JsonObject;
  return { debugPackageName: template.packageName, debugPayload, debugCreatedAt: createdAt };
}

/** The values of a context as JSON, as the JSON Ledger API encodes them. */
export const contextJson = ({ values }: Pick<ContextAnswer, "values">): JsonObject => byName(values, asJson);

function contextData({ values }: ContextAnswer): MessageInitShape<typeof ChoiceContextDataSchema> {
  return { values: byName(values, asMessage) };
}

const asMessage = (value: AnyValue) => ({ tag: value.tag, value: fromJson(ValueSchema, valueJson(value)) });

const asJson = (value: AnyValue): JsonObject => ({ tag: value.tag, value: valueJson(value) });

function valueJson({ tag, value }: AnyValue): JsonValue {
  switch (tag) {
    case "AV_List":
      return value.map(asJson);
    case "AV_Map":
      return byName(value, asJson);
    default:
      return value;
  }
}

/** Each value under its name, and under its alias where it has one. */
function byName<T>(values: readonly NamedValue[], convert: (value: AnyValue) => T): Record<string, T> {
  return Object.fromEntries(
    values.flatMap(({ name, alias, value }): [string, T][] => {
      const converted = convert(value);
      return alias === undefined
        ? [[name, converted]]
        : [
            [name, converted],
            [alias, converted],
          ];
    }),
  );
}

/** A JSON object as a top-level message. As a field it needs no conversion. */
export function struct(value: JsonObject): Struct {
  return fromJson(StructSchema, value);
}

/** The form of disclosed contracts: the token standard's with or without debug fields, or the utility operations'. */
export type Variant = "debug" | "plain" | "utility";

/**
 * A reply with disclosed contracts, not yet encoded. The transport either encodes `message()` or joins the encodings
 * that it keeps with each contract; both must give the same bytes.
 */
export class ContextReply<O extends DescMessage = DescMessage, A extends ContextAnswer = ContextAnswer> {
  readonly output: O;
  readonly variant: Variant;
  readonly answer: A;
  /** The fields before `choiceContext`, by field number; undefined if the message is itself a choice context. */
  readonly factory: { readonly factoryId: string; readonly transferKind?: TransferKind } | undefined;

  constructor(output: O, variant: Variant, answer: A, factory?: ContextReply["factory"]) {
    this.output = output;
    this.variant = variant;
    this.answer = answer;
    this.factory = factory;
  }

  message(): MessageShape<O> {
    const context =
      this.variant === "utility"
        ? utilityChoiceContext(this.answer)
        : choiceContext(this.answer, this.variant === "plain");
    const init = this.factory === undefined ? context : { ...this.factory, choiceContext: context };
    // Only the functions below create replies, each with the schema of its form.
    return create(this.output, init as MessageInitShape<O>);
  }
}

const variantOf = (excludeDebugFields: boolean): Variant => (excludeDebugFields ? "plain" : "debug");

export function contextReply(answer: ContextAnswer, excludeDebugFields: boolean) {
  return new ContextReply(ChoiceContextSchema, variantOf(excludeDebugFields), answer);
}

export function factoryReply(answer: FactoryAnswer, excludeDebugFields: boolean) {
  const { factoryId } = answer;
  return new ContextReply(FactoryWithChoiceContextSchema, variantOf(excludeDebugFields), answer, { factoryId });
}

export function transferFactoryReply(answer: TransferFactoryAnswer, excludeDebugFields: boolean) {
  const factory = { factoryId: answer.factoryId, transferKind: TransferKind[answer.transferKind] };
  return new ContextReply(TransferFactoryWithChoiceContextSchema, variantOf(excludeDebugFields), answer, factory);
}

export function utilityContextReply(answer: ContextAnswer) {
  return new ContextReply(UtilityChoiceContextSchema, "utility", answer);
}

export function utilityFactoryReply(answer: FactoryAnswer) {
  return new ContextReply(UtilityFactorySchema, "utility", answer, { factoryId: answer.factoryId });
}

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
