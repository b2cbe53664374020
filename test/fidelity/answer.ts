/** What the tests compare of an answer. */
import type { JsonObject, JsonValue } from "../../src/domain/json.js";

export interface Context {
  /** Undefined for an operation without a factory. */
  readonly factoryId: string | undefined;
  /** Undefined for any operation but a transfer factory. */
  readonly transferKind: string | undefined;
  readonly values: JsonObject;
  readonly disclosed: readonly { readonly contractId: string; readonly templateId: string }[];
}

/** Reads a ChoiceContext or a FactoryWithChoiceContext. */
export function readContext(answer: JsonValue): Context {
  const { factoryId, transferKind, choiceContext = answer } = answer as unknown as Partial<Factory>;
  const { choiceContextData, disclosedContracts } = choiceContext as unknown as ChoiceContext;
  return { factoryId, transferKind, values: choiceContextData.values, disclosed: disclosedContracts };
}

interface ChoiceContext {
  readonly choiceContextData: { readonly values: JsonObject };
  readonly disclosedContracts: Context["disclosed"];
}

interface Factory {
  readonly factoryId: string;
  readonly transferKind: string;
  readonly choiceContext: JsonValue;
}
