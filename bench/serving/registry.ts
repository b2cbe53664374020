/** A registry with as many offers as are asked for, between a hundred parties, whose acceptance discloses six contracts. */
import { contractId, elementsOf, party } from "../../demo/element.js";
import { holding } from "../../src/registry/utility/kinds/holding.js";
import { transferOffer } from "../../src/registry/utility/kinds/instructions.js";
import { instrumentConfiguration } from "../../src/registry/utility/kinds/instruments.js";
import { credential } from "../../src/registry/utility/kinds/parties.js";
import {
  allocationFactory,
  appRewardConfiguration,
  registrarService,
  transferRule,
} from "../../src/registry/utility/kinds/services.js";
import type { JsonObject, JsonValue } from "../../src/store/store.js";

export const OFFERS = 1_000;
export const PARTIES = 100;
export const INSTRUMENT = "BENCH";

const operator = party("operator");
const provider = party("provider");
export const registrar = party("registrar");
const verifier = party("verifier");
const served = { operator, provider, registrar };
const identifier = { source: registrar, id: INSTRUMENT, scheme: "RegistrarInternalScheme" };
const meta: JsonObject = { values: {} };

export const holder = (index: number): string => party(`holder ${index % PARTIES}`);
export const offerId = (index: number): string => contractId(`offer ${index}`);

/** The elements, one at a time: there may be a million. */
export function* elements(offers: number): Generator<JsonObject> {
  const { active } = elementsOf(1_000);
  yield active(allocationFactory, "factory", served);
  yield active(registrarService, "service", { ...served, enableResultContracts: true });
  yield active(transferRule, "rule", served);
  yield active(appRewardConfiguration, "rewards", {
    operator,
    provider,
    details: { dso: party("dso"), operatorAppRewardBeneficiary: { beneficiary: operator, weight: "0.2000000000" } },
  });
  yield active(instrumentConfiguration, "instrument", {
    ...served,
    defaultIdentifier: identifier,
    additionalIdentifiers: [],
    issuerRequirements: [],
    holderRequirements: [{ issuer: verifier, requiredClaims: [{ _1: "isHolderOf", _2: INSTRUMENT }] }],
    providerAppRewardBeneficiaries: null,
  });
  for (let index = 0; index < PARTIES; index++) {
    const claims: JsonValue = [{ subject: holder(index), property: "isHolderOf", value: INSTRUMENT }];
    yield active(credential, `credential ${index}`, {
      issuer: verifier,
      holder: holder(index),
      id: `credential ${index}`,
      description: "Identity verified",
      validFrom: null,
      validUntil: null,
      claims,
      observers: { map: [[provider, {}]] },
    });
  }
  for (let index = 0; index < offers; index++) {
    const sender = holder(index);
    const receiver = holder(index * 7 + 13);
    yield active(holding, `holding ${index}`, {
      ...served,
      owner: sender,
      instrument: identifier,
      label: "",
      amount: "10.0000000000",
      lock: { lockers: { map: [[registrar, {}]] }, context: `offer ${index}`, observers: { map: [] } },
    });
    yield active(transferOffer, `offer ${index}`, {
      operator,
      provider,
      transfer: {
        sender,
        receiver,
        amount: "10.0000000000",
        instrumentId: { admin: registrar, id: INSTRUMENT },
        requestedAt: "2026-01-05T09:00:00Z",
        executeBefore: "2036-01-05T09:00:00Z",
        inputHoldingCids: [contractId(`holding ${index}`)],
        meta,
      },
    });
  }
}
