import { fromJson, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { type Struct, StructSchema } from "@bufbuild/protobuf/wkt";
import type {
  ChoiceContextSchema,
  DisclosedContractSchema,
} from "../../gen/offledger/choice_context/v1/choice_context_pb.js";
import type { ChoiceContextSchema as UtilityChoiceContextSchema } from "../../gen/offledger/utility/v0/choice_context_pb.js";
import type { AnyValue, Contract, ContextAnswer, NamedValue } from "../registry/sdk/registry.js";

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
    createdEventBlob: contract.createdEventBlob,
    synchronizerId: synchronizerOf(contract),
    ...(excludeDebugFields ? {} : debugFields(contract)),
  };
}

/** The context in the utility operations' form (disclosed contracts of variant B). */
export function utilityChoiceContext(answer: ContextAnswer): MessageInitShape<typeof UtilityChoiceContextSchema> {
  return { choiceContextData: contextData(answer), disclosedContracts: answer.disclosed.map(disclosedByUtility) };
}

export function disclosedByUtility(contract: Contract) {
  return { ...contractMeta(contract), createdEventBlob: contract.createdEventBlob };
}

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

function contextData({ values }: ContextAnswer): JsonObject {
  return { values: asObject(values) };
}

function asObject(values: readonly NamedValue[]): JsonObject {
  return Object.fromEntries(
    values.flatMap(({ name, alias, value }) => {
      const json = asJson(value);
      return alias === undefined
        ? [[name, json]]
        : [
            [name, json],
            [alias, json],
          ];
    }),
  );
}

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

/** A JSON object as a top-level message. As a field it needs no conversion. */
export function struct(value: JsonObject): Struct {
  return fromJson(StructSchema, value);
}
