/** Answers of the registry -> the messages of the two families of operations. */
import { fromJson, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { type Struct, StructSchema } from "@bufbuild/protobuf/wkt";
import type {
  ChoiceContextSchema,
  DisclosedContractSchema,
} from "../../gen/offledger/choice_context/v1/choice_context_pb.js";
import type { ChoiceContextSchema as UtilityChoiceContextSchema } from "../../gen/offledger/utility/v0/choice_context_pb.js";
import type { AnyValue, Contract, ContextAnswer, NamedValue } from "../registry/sdk/registry.js";

/** A contract that is told to a caller has a synchronizer; the rules see to it. */
export function synchronizerOf(contract: Contract): string {
  if (contract.synchronizerId !== undefined) return contract.synchronizerId;
  throw new Error(`contract ${contract.contractId} is in reassignment and was put in an answer all the same`);
}

/** The context in the form of the token standard (variant A of a disclosed contract). */
export function choiceContext(
  answer: ContextAnswer,
  excludeDebugFields: boolean,
): MessageInitShape<typeof ChoiceContextSchema> {
  const disclosedContracts = answer.disclosed.map((contract) => disclosed(contract, excludeDebugFields));
  return { choiceContextData: contextData(answer), disclosedContracts };
}

/** One contract in the form of the token standard. */
export function disclosed(
  contract: Contract,
  excludeDebugFields: boolean,
): MessageInitShape<typeof DisclosedContractSchema> {
  return {
    templateId: contract.templateId,
    contractId: contract.contractId,
    createdEventBlob: contract.createdEventBlob,
    synchronizerId: synchronizerOf(contract),
    ...(excludeDebugFields ? {} : debugFields(contract)),
  };
}

/** The context in the form of the utility operations (variant B of a disclosed contract). */
export function utilityChoiceContext(answer: ContextAnswer): MessageInitShape<typeof UtilityChoiceContextSchema> {
  return { choiceContextData: contextData(answer), disclosedContracts: answer.disclosed.map(disclosedByUtility) };
}

/** One contract in the form of the utility operations. */
export function disclosedByUtility(contract: Contract) {
  return { ...contractMeta(contract), createdEventBlob: contract.createdEventBlob };
}

/** Where a contract stands on the ledger, as the utility operations tell it. */
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
  // What was written as JSON of an object is one again.
  const debugPayload = JSON.parse(payload) as JsonObject;
  return { debugPackageName: template.packageName, debugPayload, debugCreatedAt: createdAt };
}

function contextData({ values }: ContextAnswer): JsonObject {
  return { values: asObject(values) };
}

function asObject(values: readonly NamedValue[]): JsonObject {
  return Object.fromEntries(values.map(({ name, value }) => [name, asJson(value)]));
}

/** The same value, as an object that is free to be sent. */
function asJson({ tag, value }: AnyValue): JsonObject {
  switch (tag) {
    case "AV_List":
      return { tag, value: value.map(asJson) };
    case "AV_Map":
      return { tag, value: asObject(value) };
    default:
      return { tag, value };
  }
}

/** A JSON object as a message of its own; as a field of a message it needs none. */
export function struct(value: JsonObject): Struct {
  return fromJson(StructSchema, value);
}
