/** The demo registry: two registrars, three instruments, and pending instructions of a few parties. */
import { holding, instrumentConfiguration } from "../src/registry/utility/templates.js";
import * as templates from "../src/registry/utility/templates.js";
import type { JsonObject, JsonValue } from "../src/util/json.js";
import { active, contractId, inReassignment, party } from "./element.js";

export const operator = party("utility-operator");
const dso = party("DSO");
const verifier = party("identity-verifier");
export const alice = party("alice");
export const bob = party("bob");
export const carol = party("carol");
const dave = party("dave");

export interface Registrar {
  readonly party: string;
  readonly provider: string;
}
export const acme: Registrar = { party: party("acme-registrar"), provider: party("acme-provider") };
export const nordic: Registrar = { party: party("nordic-registrar"), provider: party("nordic-provider") };

const serviceParties = ({ party: registrar, provider }: Registrar) => ({ operator, provider, registrar });
const identifier = (source: string, id: string, scheme: string) => ({ source, id, scheme });
const internalId = (registrar: Registrar, id: string) => identifier(registrar.party, id, "RegistrarInternalScheme");
const set = (...elements: string[]): JsonObject => ({ map: elements.map((element): JsonValue => [element, {}]) });
const meta: JsonObject = { values: {} };

function configuration(registrar: Registrar, id: string, more: JsonObject): JsonObject {
  return active(instrumentConfiguration, `configuration of ${id}`, {
    ...serviceParties(registrar),
    defaultIdentifier: internalId(registrar, id),
    additionalIdentifiers: [],
    issuerRequirements: [],
    holderRequirements: [],
    providerAppRewardBeneficiaries: null,
    ...more,
  });
}

function credential(label: string, holder: string, claims: JsonObject[], validity: JsonObject = {}): JsonObject {
  return active(templates.credential, `credential ${label}`, {
    issuer: verifier,
    holder,
    id: label,
    description: "Identity verified",
    validFrom: "2026-01-01T00:00:00Z",
    validUntil: null,
    claims: claims.map((claim) => ({ subject: holder, ...claim })),
    observers: set(acme.provider),
    ...validity,
  });
}

export function locked(label: string, registrar: Registrar, owner: string, id: string, amount: string): JsonObject {
  return active(holding, `holding ${label}`, {
    ...serviceParties(registrar),
    owner,
    instrument: internalId(registrar, id),
    label: "",
    amount,
    lock: { lockers: set(registrar.party), context: `transfer ${label}`, observers: set() },
  });
}

export function offer(
  label: string,
  registrar: Registrar,
  [sender, receiver]: [string, string],
  id: string,
  amount: string,
) {
  return {
    operator,
    provider: registrar.provider,
    transfer: {
      sender,
      receiver,
      amount,
      instrumentId: { admin: registrar.party, id },
      requestedAt: "2026-01-05T09:00:00Z",
      executeBefore: "2036-01-05T09:00:00Z",
      inputHoldingCids: [contractId(`holding ${label}`)],
      meta,
    },
  };
}

function allocation(
  label: string,
  registrar: Registrar,
  [sender, receiver]: [string, string],
  id: string,
  amount: string,
) {
  return active(templates.dvpLegAllocation, `allocation ${label}`, {
    operator,
    provider: registrar.provider,
    allocation: {
      settlement: {
        executor: carol,
        settlementRef: { id: "trade 17", cid: null },
        requestedAt: "2026-01-05T09:00:00Z",
        allocateBefore: "2036-01-05T09:00:00Z",
        settleBefore: "2036-01-06T09:00:00Z",
        meta,
      },
      transferLegId: label,
      transferLeg: { sender, receiver, amount, instrumentId: { admin: registrar.party, id }, meta },
    },
    lockedHoldingCid: contractId(`holding ${label}`),
  });
}

export function issuance(
  action: "mint" | "burn",
  registrar: Registrar,
  holder: string,
  id: string,
  amount: string,
): JsonObject {
  return {
    operator,
    provider: registrar.provider,
    [action]: {
      instrumentId: { admin: registrar.party, id },
      amount,
      holder,
      reference: action === "mint" ? "subscription 8" : "redemption 3",
      requestedAt: "2026-01-05T09:00:00Z",
      executeBefore: "2036-01-05T09:00:00Z",
      meta,
    },
  };
}

const holderClaim = { property: "isHolderOf", value: "ACME-BOND" };
const issuerClaim = { property: "isIssuerOf", value: "ACME-BOND" };
const requirement = ({ property, value }: typeof holderClaim) => [
  { issuer: verifier, requiredClaims: [{ _1: property, _2: value }] },
];

export const elements: readonly JsonObject[] = [
  ...[acme, nordic].flatMap((registrar) => [
    active(templates.allocationFactory, `factory of ${registrar.party}`, serviceParties(registrar)),
    active(templates.registrarService, `service of ${registrar.party}`, {
      ...serviceParties(registrar),
      enableResultContracts: registrar === acme ? true : null,
    }),
    active(templates.transferRule, `rule of ${registrar.party}`, serviceParties(registrar)),
  ]),
  active(templates.appRewardConfiguration, "rewards of acme", {
    operator,
    provider: acme.provider,
    details: { dso, operatorAppRewardBeneficiary: { beneficiary: operator, weight: "0.2000000000" } },
  }),
  active(templates.featuredAppRight, "featured right of acme", { dso, provider: acme.provider }),

  // One instrument requires credentials, one has several identifiers, one has neither.
  configuration(acme, "ACME-BOND", {
    holderRequirements: requirement(holderClaim),
    issuerRequirements: requirement(issuerClaim),
  }),
  configuration(acme, "ACME-EUR", {
    additionalIdentifiers: [identifier("ISO", "EU000A1ACME7", "ISIN"), identifier("DTIF", "8ZK4XQ2LM", "DTI")],
  }),
  configuration(nordic, "NOK-CASH", {}),

  credential("alice", alice, [holderClaim, issuerClaim]),
  credential("bob", bob, [holderClaim], { validUntil: "2036-01-01T00:00:00Z" }),
  // Carol has none; dave's has expired.
  credential("dave", dave, [holderClaim], { validUntil: "2026-02-01T00:00:00Z" }),
  active(templates.transferPreapproval, "preapproval of bob", {
    operator,
    receiver: bob,
    instrumentAdmin: acme.party,
    instrumentAllowances: [{ id: "ACME-EUR" }],
  }),

  locked("bond to bob", acme, alice, "ACME-BOND", "100.0000000000"),
  active(
    templates.transferOffer,
    "offer bond to bob",
    offer("bond to bob", acme, [alice, bob], "ACME-BOND", "100.0000000000"),
  ),
  locked("bond to dave", acme, alice, "ACME-BOND", "5.0000000000"),
  active(
    templates.transferOffer,
    "offer bond to dave",
    offer("bond to dave", acme, [alice, dave], "ACME-BOND", "5.0000000000"),
  ),
  locked("cash to carol", nordic, bob, "NOK-CASH", "250.0000000000"),
  active(
    templates.transferOffer,
    "offer cash to carol",
    offer("cash to carol", nordic, [bob, carol], "NOK-CASH", "250.0000000000"),
  ),
  locked("moving", nordic, bob, "NOK-CASH", "75.0000000000"),
  inReassignment(
    templates.transferOffer,
    "offer moving",
    offer("moving", nordic, [bob, alice], "NOK-CASH", "75.0000000000"),
  ),

  locked("bond leg", acme, alice, "ACME-BOND", "40.0000000000"),
  allocation("bond leg", acme, [alice, bob], "ACME-BOND", "40.0000000000"),
  locked("euro leg", acme, bob, "ACME-EUR", "39500.0000000000"),
  allocation("euro leg", acme, [bob, alice], "ACME-EUR", "39500.0000000000"),

  locked("redemption", acme, alice, "ACME-BOND", "10.0000000000"),
  active(templates.burnRequest, "burn request", {
    ...issuance("burn", acme, alice, "ACME-BOND", "10.0000000000"),
    lockedHoldingCid: contractId("holding redemption"),
  }),
  active(templates.mintRequest, "mint request", issuance("mint", acme, alice, "ACME-BOND", "25.0000000000")),
  active(templates.mintOffer, "mint offer", issuance("mint", nordic, carol, "NOK-CASH", "500.0000000000")),
  active(templates.burnOffer, "burn offer", issuance("burn", nordic, bob, "NOK-CASH", "20.0000000000")),

  // An export also contains unlocked holdings and contracts that no rule reads.
  active(holding, "holding free", {
    ...serviceParties(nordic),
    owner: carol,
    instrument: internalId(nordic, "NOK-CASH"),
    label: "",
    amount: "12.5000000000",
    lock: null,
  }),
  active(
    { packageName: "utility-registry-v0", qualifiedName: "Utility.Registry.V0.Rule.Mint:MintRule" },
    "mint rule",
    serviceParties(acme),
  ),
];
