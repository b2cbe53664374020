/** Random instructions: transfer offers, allocations, and offers and requests to mint and burn. */
import fc from "fast-check";
import type { Template } from "../../fixtures/elements.js";
import { draft, lockedHolding, type LockedHolding } from "./contract-drafts.js";
import { instrument, operator, party, provider, registrar, trader } from "./names.js";

const meta = { values: {} };
const terms = {
  amount: "1.0000000000",
  requestedAt: "2026-01-05T09:00:00Z",
  executeBefore: "2036-01-05T09:00:00Z",
  meta,
};
const instrumentId = fc.record({ admin: registrar, id: instrument });
const offer = draft(
  "TransferOffer",
  fc.record({ operator, provider, transfer: fc.record({ sender: party, receiver: party, instrumentId }) }),
  ({ transfer, ...fields }) => ({ ...fields, transfer: { ...transfer, ...terms, inputHoldingCids: [] } }),
  fc.option(lockedHolding, { freq: 10, nil: undefined }),
);
const allocation = draft(
  "DvpLegAllocation",
  fc.record({
    operator,
    provider,
    leg: fc.record({ sender: party, receiver: party, instrumentId }),
  }),
  ({ leg, ...parties }) => ({
    ...parties,
    allocation: {
      settlement: {
        executor: "executor::1220",
        settlementRef: { id: "trade", cid: null },
        requestedAt: "2026-01-05T09:00:00Z",
        allocateBefore: "2036-01-05T09:00:00Z",
        settleBefore: "2036-01-05T09:00:00Z",
        meta,
      },
      transferLegId: "leg",
      transferLeg: { ...leg, amount: "1.0000000000", meta },
    },
  }),
  lockedHolding,
);
const issuance = (template: Template, name: "mint" | "burn", locks?: fc.Arbitrary<LockedHolding>) =>
  draft(
    template,
    fc.record({ operator, provider, issued: fc.record({ instrumentId, holder: trader }) }),
    ({ issued, ...fields }) => ({ ...fields, [name]: { ...issued, ...terms, reference: "" } }),
    locks,
  );

export const instruction = fc.oneof(
  { weight: 3, arbitrary: offer },
  { weight: 3, arbitrary: allocation },
  { weight: 1, arbitrary: issuance("MintOffer", "mint") },
  { weight: 1, arbitrary: issuance("MintRequest", "mint") },
  { weight: 1, arbitrary: issuance("BurnOffer", "burn") },
  { weight: 1, arbitrary: issuance("BurnRequest", "burn", lockedHolding) },
);

/** One of each instruction, so that every operation has something to be asked about. */
export const oneOfEach = fc.tuple(
  offer,
  allocation,
  issuance("MintOffer", "mint"),
  issuance("MintRequest", "mint"),
  issuance("BurnOffer", "burn"),
  issuance("BurnRequest", "burn", lockedHolding),
);
