import type { JsonReader } from "../../sdk/json-reader.js";
import { indexKeys } from "./index-keys.js";
import { defineTemplate } from "./define-template.js";

/** The three parties that everything of one operation names alike. */
export interface GroupParties {
  readonly operator: string;
  readonly provider: string;
  readonly registrar: string;
}

export const groupParties = (payload: JsonReader): GroupParties => ({
  operator: payload.id("operator"),
  provider: payload.id("provider"),
  registrar: payload.id("registrar"),
});

export type AllocationFactory = GroupParties;

export const allocationFactory = defineTemplate(
  "utility-registry-app-v0",
  "Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory",
  (payload): AllocationFactory => groupParties(payload),
  ({ registrar }) => [indexKeys.factory(registrar)],
  ({ registrar }) => registrar,
);

export interface RegistrarService extends GroupParties {
  /** Undefined if the service does not say. */
  readonly enableResultContracts: boolean | undefined;
}

export const registrarService = defineTemplate(
  "utility-registry-app-v0",
  "Utility.Registry.App.V0.Service.Registrar:RegistrarService",
  (payload): RegistrarService => ({
    ...groupParties(payload),
    enableResultContracts: payload.optionalBool("enableResultContracts"),
  }),
  ({ registrar }) => [indexKeys.service(registrar)],
  ({ registrar }) => registrar,
);

export type TransferRule = GroupParties;

export const transferRule = defineTemplate(
  "utility-registry-v0",
  "Utility.Registry.V0.Rule.Transfer:TransferRule",
  (payload): TransferRule => groupParties(payload),
  ({ registrar }) => [indexKeys.transferRule(registrar)],
  ({ registrar }) => registrar,
);

export interface AppRewardConfiguration {
  readonly operator: string;
  readonly provider: string;
  /** The party whose FeaturedAppRight counts; undefined if the configuration names none. */
  readonly dso: string | undefined;
}

export const appRewardConfiguration = defineTemplate(
  "utility-registry-v0",
  "Utility.Registry.V0.Configuration.AppReward:AppRewardConfiguration",
  (payload): AppRewardConfiguration => ({
    operator: payload.id("operator"),
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
