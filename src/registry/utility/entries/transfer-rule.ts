import { indexKeys } from "../templates/index-keys.js";
import { transferRule } from "../templates/services.js";
import type { ContextEntry } from "./context-entry.js";

export const transferRuleEntry: ContextEntry = {
  value(builder, selector, _inputs, required) {
    const { view, registrar } = selector;
    const rule = selector.selectOfGroup(view.byKey(transferRule, indexKeys.transferRule(registrar)), required, {
      name: `the TransferRule of registrar ${registrar}`,
      kind: "rule",
      registrar,
      template: transferRule.qualifiedName,
    });
    return rule === undefined ? undefined : builder.reference(rule);
  },
};
