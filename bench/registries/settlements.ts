/**
 * A registry for the largest settlement to support: 25 legs in 25 instruments
 * between 50 accounts with an owner and a provider each (100 parties). Each
 * owner needs a credential of both issuers. A settlement discloses 177
 * contracts: factory and rule, 25 configurations, 100 credentials, 25
 * allocations with their locked holdings.
 */
import type { JsonObject } from "@bufbuild/protobuf";
import { party } from "../../demo/element.js";
import { credential, holding, instrumentConfiguration } from "../../src/registry/utility/templates.js";
import { dvpLegAllocation } from "../../src/registry/utility/templates.js";
import { createElement, contractId, type Element } from "./element.js";
import { provider, registrar, serviceParties, createServices } from "./services.js";

export const SETTLEMENTS = 20;
const LEGS = 25;
/** Enough for four settlements without a common owner. */
const OWNERS = 200;

const issuers = [party("identity issuer"), party("accreditation issuer")];
const properties = ["isVerified", "isAccredited"];
const owners = Array.from({ length: OWNERS }, (_, index) => party(`owner ${index}`));
const custodians = owners.map((_, index) => party(`custodian ${index}`));
const meta: JsonObject = { values: {} };

const instrumentOf = (leg: number): string => `BENCH-${leg}`;
const ownerOf = (settlement: number, leg: number, side: 0 | 1): number =>
  (settlement * 2 * LEGS + leg * 2 + side) % OWNERS;
const labelOf = (settlement: number, leg: number): string => `${settlement}-${leg}`;

export function* generateSettlements(): Generator<Element> {
  yield* createServices();
  let offset = 100;
  for (let leg = 0; leg < LEGS; leg++) {
    yield createElement(instrumentConfiguration, `instrument ${leg}`, offset++, {
      ...serviceParties,
      defaultIdentifier: { source: registrar, id: instrumentOf(leg), scheme: "RegistrarInternalScheme" },
      additionalIdentifiers: [],
      issuerRequirements: [],
      holderRequirements: issuers.map((issuer, index) => ({
        issuer,
        requiredClaims: [{ _1: properties[index] ?? "", _2: "true" }],
      })),
      providerAppRewardBeneficiaries: null,
    });
  }
  for (const [owner, subject] of owners.entries()) {
    for (const [index, issuer] of issuers.entries()) {
      yield createElement(credential, `credential ${owner} ${index}`, offset++, {
        issuer,
        holder: subject,
        id: `credential ${owner} ${index}`,
        description: "Verified",
        validFrom: null,
        validUntil: null,
        claims: [{ subject, property: properties[index] ?? "", value: "true" }],
        observers: { map: [[provider, {}]] },
      });
    }
  }
  for (let settlement = 0; settlement < SETTLEMENTS; settlement++) {
    for (let leg = 0; leg < LEGS; leg++) {
      yield* createAllocation(settlement, leg, offset);
      offset += 2;
    }
  }
}

function createAllocation(settlement: number, leg: number, offset: number): [Element, Element] {
  const sender = owners[ownerOf(settlement, leg, 0)] ?? "";
  const label = labelOf(settlement, leg);
  const id = instrumentOf(leg);
  const locked: JsonObject = {
    ...serviceParties,
    owner: sender,
    instrument: { source: registrar, id, scheme: "RegistrarInternalScheme" },
    label: "",
    amount: "10.0000000000",
    lock: { lockers: { map: [[registrar, {}]] }, context: `allocation ${label}`, observers: { map: [] } },
  };
  const transferLeg: JsonObject = {
    sender,
    receiver: owners[ownerOf(settlement, leg, 1)] ?? "",
    amount: "10.0000000000",
    instrumentId: { admin: registrar, id },
    meta,
  };
  const terms = {
    executor: party("executor"),
    settlementRef: { id: `settlement ${settlement}`, cid: null },
    requestedAt: "2026-01-05T09:00:00Z",
    allocateBefore: "2036-01-05T09:00:00Z",
    settleBefore: "2036-01-05T09:00:00Z",
    meta,
  };
  return [
    createElement(holding, `holding ${label}`, offset, locked),
    createElement(dvpLegAllocation, `allocation ${label}`, offset + 1, {
      operator: serviceParties.operator,
      provider,
      allocation: { settlement: terms, transferLegId: `leg ${leg}`, transferLeg },
      lockedHoldingCid: contractId(`holding ${label}`),
    }),
  ];
}

const account = (index: number) => ({ owner: owners[index] ?? "", provider: custodians[index] ?? "", id: "" });

export function settlementBody(settlement: number, excludeDebugFields: boolean): JsonObject {
  const legs = Array.from({ length: LEGS }, (_, leg) => leg);
  return {
    choiceArguments: {
      settlement: { executors: [party("executor")], id: `settlement ${settlement}`, cid: null, meta },
      transferLegs: legs.map((leg) => ({
        transferLegId: `leg ${leg}`,
        sender: account(ownerOf(settlement, leg, 0)),
        receiver: account(ownerOf(settlement, leg, 1)),
        amount: "10.0000000000",
        instrumentId: instrumentOf(leg),
        meta,
      })),
      allocations: legs.map((leg) => ({
        allocationCid: contractId(`allocation ${labelOf(settlement, leg)}`),
        extraTransferLegSides: [],
        nextIterationFunding: null,
      })),
      actors: [party("executor")],
      extraArgs: { context: { values: {} }, meta },
    },
    excludeDebugFields,
  };
}
