/** A registry with a given number of offers between a hundred parties. An accept context discloses five contracts. */
import type { JsonObject } from "@bufbuild/protobuf";
import { party } from "../../demo/element.js";
import { credential, holding, instrumentConfiguration } from "../../src/registry/utility/templates.js";
import { transferOffer } from "../../src/registry/utility/templates.js";
import { createElement, contractId, type Element } from "./element.js";
import { provider, registrar, serviceParties, createServices } from "./services.js";

export const OFFERS = 1_000;
export const INSTRUMENT = "BENCH";
const PARTIES = 100;
export const FIXED_CONTRACTS = 5 + PARTIES;

const verifier = party("verifier");
const identifier = { source: registrar, id: INSTRUMENT, scheme: "RegistrarInternalScheme" };
const holders = Array.from({ length: PARTIES }, (_, index) => party(`holder ${index}`));

export const holder = (index: number): string => holders[index % PARTIES] ?? "";
export const receiver = (index: number): string => holder(index * 7 + 13);
export const offerId = (index: number): string => contractId(`offer ${index}`);

export function* generateTransfers(offers: number): Generator<Element> {
  yield* createServices();
  yield createElement(instrumentConfiguration, "instrument", 5, {
    ...serviceParties,
    defaultIdentifier: identifier,
    additionalIdentifiers: [],
    issuerRequirements: [],
    holderRequirements: [{ issuer: verifier, requiredClaims: [{ _1: "isHolderOf", _2: INSTRUMENT }] }],
    providerAppRewardBeneficiaries: null,
  });
  for (const [index, subject] of holders.entries()) {
    yield createElement(credential, `credential ${index}`, 6 + index, {
      issuer: verifier,
      holder: subject,
      id: `credential ${index}`,
      description: "Identity verified",
      validFrom: null,
      validUntil: null,
      claims: [{ subject, property: "isHolderOf", value: INSTRUMENT }],
      observers: { map: [[provider, {}]] },
    });
  }
  for (let index = 0; index < offers; index++) yield* createOffer(index);
}

/** `admin` is the registrar of the instrument. */
export function createOffer(index: number, admin = registrar): [Element, Element] {
  const offset = 1_000 + 2 * index;
  const locked: JsonObject = {
    ...serviceParties,
    registrar: admin,
    owner: holder(index),
    instrument: { ...identifier, source: admin },
    label: "",
    amount: "10.0000000000",
    lock: { lockers: { map: [[admin, {}]] }, context: `offer ${index}`, observers: { map: [] } },
  };
  const offer: JsonObject = {
    operator: serviceParties.operator,
    provider,
    transfer: {
      sender: holder(index),
      receiver: receiver(index),
      amount: "10.0000000000",
      instrumentId: { admin, id: INSTRUMENT },
      requestedAt: "2026-01-05T09:00:00Z",
      executeBefore: "2036-01-05T09:00:00Z",
      inputHoldingCids: [contractId(`holding ${index}`)],
      meta: { values: {} },
    },
  };
  return [
    createElement(holding, `holding ${index}`, offset, locked),
    createElement(transferOffer, `offer ${index}`, offset + 1, offer),
  ];
}
