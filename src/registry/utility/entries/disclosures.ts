import type { ContractLookup } from "../../../store/port.js";
import { missingOn } from "../selection/candidates.js";
import type { ContractSelector } from "../selection/contract-selector.js";
import { holding } from "../templates/holding.js";
import { type LockedHoldings, lockedHoldingsOf } from "../templates/instructions.js";
import type { ChoiceContextBuilder } from "./choice-context-builder.js";
import type { Disclosure } from "./context-entry.js";

export const factoryDisclosure: Disclosure = {
  disclose(builder, _selector, { factory }) {
    if (factory !== undefined) builder.disclose(factory);
  },
};

/** The holdings that the instruction has locked: of the issuance templates only BurnRequest locks one. */
export const lockedHoldingDisclosure: Disclosure = {
  *prefetch(inputs) {
    for (const id of lockedHoldingsOf(inputs)) yield lookup(id);
  },
  disclose(builder, selector, inputs, required) {
    discloseHoldings(builder, selector, inputs, required);
  },
};

export const allocationsDisclosure: Disclosure = {
  disclose(builder, { synchronizer }, { allocations = [] }) {
    for (const allocation of allocations) {
      if (allocation.synchronizerId !== synchronizer)
        missingOn([allocation], synchronizer, `allocation ${allocation.contractId}`);
      builder.disclose(allocation);
    }
  },
};

export const allocationHoldingsDisclosure: Disclosure = {
  *prefetch({ allocations = [] }) {
    for (const { fields } of allocations) for (const id of lockedHoldingsOf(fields)) yield lookup(id);
  },
  disclose(builder, selector, { allocations = [] }, required) {
    for (const { fields } of allocations) discloseHoldings(builder, selector, fields, required);
  },
};

const lookup = (contractId: string): ContractLookup => ({ template: holding, contractId });

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
  if (found?.synchronizerId === selector.synchronizer) builder.disclose(found);
  else selector.missing(found === undefined ? [] : [found], required, `the locked holding ${contractId}`);
}
