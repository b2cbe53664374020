/** What the tests compare of a context, and what deployed registries gave before release 0.12. */
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { rewardChanges } from "../fixtures/contexts.js";
import type { RulesOptions } from "../fixtures/rules.js";

export interface Context {
  /** Undefined for an operation without a factory. */
  readonly factoryId: string | undefined;
  /** Undefined for any operation but a transfer factory. */
  readonly transferKind: string | undefined;
  readonly values: JsonObject;
  readonly disclosed: readonly { readonly contractId: string; readonly templateId: string }[];
}

interface ChoiceContext {
  readonly choiceContextData: { readonly values: JsonObject };
  readonly disclosedContracts: Context["disclosed"];
}

/** Reads a ChoiceContext or a FactoryWithChoiceContext. */
export function readContext(answer: JsonValue): Context {
  const {
    factoryId,
    transferKind,
    choiceContext = answer,
  } = answer as unknown as Partial<Omit<Context, "values">> & {
    readonly choiceContext?: JsonValue;
  };
  const { choiceContextData, disclosedContracts } = choiceContext as unknown as ChoiceContext;
  return { factoryId, transferKind, values: choiceContextData.values, disclosed: disclosedContracts };
}

/** Names of transfers' entries without a prefix beside the prefixed ones: a documentation example of 0.12 has them too. */
const BARE_NAMES: JsonObject = {
  on: ["transfer-factory/offer", "transfer-factory/direct", "transfer-instruction/accept"],
  set: { key: ["utility.digitalasset.com/*", "*"] },
};

export const WITH_BARE_NAMES: RulesOptions = { contexts: { changes: [BARE_NAMES] } };

/** Also the reward entries that release 0.12 dropped. */
export const WITH_ALL: RulesOptions = { contexts: { changes: [...rewardChanges(), BARE_NAMES] } };

/** Whether a key names an entry that release 0.12 dropped. */
export const isDropped = (key: string): boolean =>
  /^(?:utility\.digitalasset\.com\/)?(?:app-reward-configuration|featured-app-right)$/.test(key);

export const isBare = (key: string): boolean => !key.includes("/");
