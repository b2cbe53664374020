/** The contracts that every registrar has once. */
import { party } from "../../demo/element.js";
import {
  allocationFactory,
  appRewardConfiguration,
  registrarService,
  transferRule,
} from "../../src/registry/utility/templates.js";
import { createElement, type Element } from "./element.js";

const operator = party("operator");
export const provider = party("provider");
export const registrar = party("registrar");
export const serviceParties = { operator, provider, registrar };

export const BASE_PATH = `/api/token-standard/v0/registrars/${registrar}/registry`;

export function createServices(): Element[] {
  return [
    createElement(allocationFactory, "factory", 1, serviceParties),
    createElement(registrarService, "service", 2, { ...serviceParties, enableResultContracts: true }),
    createElement(transferRule, "rule", 3, serviceParties),
    createElement(appRewardConfiguration, "rewards", 4, {
      operator,
      provider,
      details: { dso: party("dso"), operatorAppRewardBeneficiary: { beneficiary: operator, weight: "0.2000000000" } },
    }),
  ];
}
