import { indexKeys } from "../templates/index-keys.js";
import { transferRule } from "../templates/services.js";
import { entryKey } from "./choice-context-builder.js";
import type { ContextEntry } from "./context-entry.js";

export const transferRuleEntry: ContextEntry = {
  key: entryKey("transfer-rule"),
  *prefetch({ registrar }) {
    yield { template: transferRule, indexKey: indexKeys.transferRule(registrar) };
  },
  value(builder, selector) {
    const { view, registrar } = selector;
    const candidates = view.byKey(transferRule, indexKeys.transferRule(registrar));
    const rule =
      selector.newest(candidates) ?? selector.requiredMissing(candidates, `the TransferRule of registrar ${registrar}`);
    return rule === undefined ? undefined : builder.reference(rule);
  },
};
