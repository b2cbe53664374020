import { fromJson, type JsonObject, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { type Struct, StructSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import type {
  ChoiceContextDataSchema,
  ChoiceContextSchema,
  DisclosedContractSchema,
} from "../../../gen/offledger/choice_context/v1/choice_context_pb.js";
import type { ChoiceContextSchema as UtilityChoiceContextSchema } from "../../../gen/offledger/utility/v0/choice_context_pb.js";
import type { AnyValue, Contract, ContextAnswer, NamedValue } from "../../registry/sdk/registry.js";

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
