import { indexKeys } from "./index-keys.js";
import { defineTemplate } from "./define-template.js";

export interface AllocationFactory {
  readonly operator: string | undefined;
  readonly provider: string;
  readonly registrar: string;
}

export const allocationFactory = defineTemplate(
  "utility-registry-app-v0",
  "Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory",
  (payload): AllocationFactory => ({
    operator: payload.optionalId("operator"),
    provider: payload.id("provider"),
    registrar: payload.id("registrar"),
  }),
  ({ registrar }) => [indexKeys.factory(registrar)],
  ({ registrar }) => registrar,
);

export interface RegistrarService {
  readonly registrar: string;
  readonly enableResultContracts: boolean | undefined;
}

export const registrarService = defineTemplate(
  "utility-registry-app-v0",
  "Utility.Registry.App.V0.Service.Registrar:RegistrarService",
  (payload): RegistrarService => ({
    registrar: payload.id("registrar"),
    enableResultContracts: payload.optionalBool("enableResultContracts"),
  }),
  ({ registrar }) => [indexKeys.service(registrar)],
  ({ registrar }) => registrar,
);

export interface TransferRule {
  readonly registrar: string;
}

export const transferRule = defineTemplate(
  "utility-registry-v0",
  "Utility.Registry.V0.Rule.Transfer:TransferRule",
  (payload): TransferRule => ({ registrar: payload.id("registrar") }),
  ({ registrar }) => [indexKeys.transferRule(registrar)],
  ({ registrar }) => registrar,
);

export interface AppRewardConfiguration {
  readonly provider: string;
  /** The party whose FeaturedAppRight counts; undefined if the configuration names none. */
  readonly dso: string | undefined;
}

export const appRewardConfiguration = defineTemplate(
  "utility-registry-v0",
  "Utility.Registry.V0.Configuration.AppReward:AppRewardConfiguration",
  (payload): AppRewardConfiguration => ({
    provider: payload.id("provider"),
    dso: payload.optionalObject("details")?.optionalId("dso"),
  }),
  ({ provider }) => [indexKeys.appReward(provider)],
);

export interface FeaturedAppRight {
  readonly dso: string;
  readonly provider: string;
}

export const featuredAppRight = defineTemplate(
  "splice-amulet",
  "Splice.Amulet:FeaturedAppRight",
  (payload): FeaturedAppRight => ({ dso: payload.id("dso"), provider: payload.id("provider") }),
  ({ provider }) => [indexKeys.featuredAppRight(provider)],
);
