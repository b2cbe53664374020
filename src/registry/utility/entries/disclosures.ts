import type { ContractSelector } from "../selection/contract-selector.js";
import { holding } from "../templates/holding.js";
import type { LockedHoldings } from "../templates/instructions.js";
import type { ChoiceContextBuilder } from "./choice-context-builder.js";
import type { Disclosure } from "./context-entry.js";

export const factoryDisclosure: Disclosure = {
  disclose(builder, _selector, { factory }) {
    if (factory !== undefined) builder.disclose(factory);
  },
};

/** The holdings that the instruction has locked: of the issuance templates only BurnRequest locks one. */
export const lockedHoldingDisclosure: Disclosure = {
  disclose(builder, selector, inputs, required) {
    discloseHoldings(builder, selector, inputs, required);
  },
};

export const allocationsDisclosure: Disclosure = {
  disclose(builder, selector, { allocations = [] }) {
    for (const allocation of allocations) {
      const needed = () => ({
        name: `allocation ${allocation.contractId}`,
        kind: "instruction",
        registrar: allocation.fields.admin,
      });
      if (selector.select([allocation], true, needed) !== undefined) builder.disclose(allocation);
    }
  },
};

export const allocationHoldingsDisclosure: Disclosure = {
  disclose(builder, selector, { allocations = [] }, required) {
    for (const { fields } of allocations) discloseHoldings(builder, selector, fields, required);
  },
};

function discloseHoldings(
  builder: ChoiceContextBuilder,
  selector: ContractSelector,
  { lockedHolding, otherLockedHoldings }: LockedHoldings,
  required: boolean,
): void {
  if (lockedHolding !== undefined) discloseHolding(builder, selector, lockedHolding, required);
  if (otherLockedHoldings === undefined) return;
  for (const id of otherLockedHoldings) discloseHolding(builder, selector, id, required);
}

function discloseHolding(
  builder: ChoiceContextBuilder,
  selector: ContractSelector,
  contractId: string,
  required: boolean,
): void {
  const found = selector.view.byId(holding, contractId);
  const chosen = selector.select(found === undefined ? [] : [found], required, () => ({
    name: `the locked holding ${contractId}`,
    kind: "holding",
    contractId,
    template: holding.qualifiedName,
  }));
  if (chosen !== undefined) builder.disclose(chosen);
}
