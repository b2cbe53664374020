/** What every registrar has set up once. */
import { party } from "../../demo/element.js";
import {
  allocationFactory,
  appRewardConfiguration,
  registrarService,
  transferRule,
} from "../../src/registry/utility/templates/services.js";
import { active, type Element } from "./element.js";

const operator = party("operator");
export const provider = party("provider");
export const registrar = party("registrar");
export const served = { operator, provider, registrar };

/** Where the registry's operations are. */
export const base = `/api/token-standard/v0/registrars/${registrar}/registry`;

export function services(): Element[] {
  return [
    active(allocationFactory, "factory", 1, served),
    active(registrarService, "service", 2, { ...served, enableResultContracts: true }),
    active(transferRule, "rule", 3, served),
    active(appRewardConfiguration, "rewards", 4, {
      operator,
      provider,
      details: { dso: party("dso"), operatorAppRewardBeneficiary: { beneficiary: operator, weight: "0.2000000000" } },
    }),
  ];
}
