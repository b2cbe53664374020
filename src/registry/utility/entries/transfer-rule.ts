import { indexKeys } from "../templates/index-keys.js";
import { transferRule } from "../templates/services.js";
import type { ContextEntry } from "./context-entry.js";

export const transferRuleEntry: ContextEntry = {
  *prefetch({ registrar }) {
    yield { template: transferRule, indexKey: indexKeys.transferRule(registrar) };
  },
  value(builder, selector, _inputs, required) {
    const { view, registrar } = selector;
    const candidates = view.byKey(transferRule, indexKeys.transferRule(registrar));
    const rule = selector.select(candidates, required, () => ({
      name: `the TransferRule of registrar ${registrar}`,
      kind: "rule",
      registrar,
      template: transferRule.qualifiedName,
    }));
    return rule === undefined ? undefined : builder.reference(rule);
  },
};
