import type { HoldingFields } from "../../domain/holdings.js";
import type { Template } from "../../domain/template.js";
import { decimalField, JsonReader } from "../sdk/json-reader.js";
import type { Claim, InstrumentConfiguration, InstrumentIdentifier, Requirement } from "../sdk/registry.js";
import { defineTemplate, indexKeys } from "./index-keys.js";
import { burnOffer, burnRequest, dvpLegAllocation, mintOffer, mintRequest, transferOffer } from "./instructions.js";

/** The three parties that everything of one operation names alike. */
export interface GroupParties {
  readonly operator: string;
  readonly provider: string;
  readonly registrar: string;
}

const groupParties = (payload: JsonReader): GroupParties => ({
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

export const instrumentConfiguration = defineTemplate(
  "utility-registry-v0",
  "Utility.Registry.V0.Configuration.Instrument:InstrumentConfiguration",
  (payload): InstrumentConfiguration => ({
    ...groupParties(payload),
    defaultIdentifier: identifier(payload.object("defaultIdentifier")),
    additionalIdentifiers: payload.objects("additionalIdentifiers").map(identifier),
    issuerRequirements: payload.objects("issuerRequirements").map(requirement),
    holderRequirements: payload.objects("holderRequirements").map(requirement),
    paused: isPaused(payload),
    checkBlocklist: payload.optionalBool("checkBlocklist") ?? false,
  }),
  ({ registrar, defaultIdentifier, additionalIdentifiers }) => [
    indexKeys.instruments(registrar),
    indexKeys.instrument(registrar, defaultIdentifier.id),
    ...new Set(additionalIdentifiers.map(({ id }) => indexKeys.additionalIdentifier(registrar, id))),
  ],
  ({ registrar }) => registrar,
);

function identifier(fields: JsonReader): InstrumentIdentifier {
  return { source: fields.text("source"), id: fields.text("id"), scheme: fields.text("scheme") };
}

/** `isPaused` is an optional constructor without fields: ledgers encode it as its name, as an object or as true. */
function isPaused(payload: JsonReader): boolean {
  const value = payload.raw("isPaused");
  return value === "Paused" || value === true || (typeof value === "object" && !Array.isArray(value));
}

/** A required claim is a Daml pair: `{_1: property, _2: value}`. */
function requirement(fields: JsonReader): Requirement {
  return {
    issuer: fields.id("issuer"),
    requiredClaims: fields
      .objects("requiredClaims")
      .map((pair) => ({ property: pair.text("_1"), value: pair.text("_2") })),
  };
}

export interface Credential {
  readonly issuer: string;
  readonly holder: string;
  /** Microseconds since 1970; undefined if it has always been valid. */
  readonly validFrom: number | undefined;
  /** Microseconds since 1970; undefined if it never expires. */
  readonly validUntil: number | undefined;
  /**
   * The claims that count, by ascending subject, each subject once: those on the holder, and on everyone if the issuer
   * holds the credential itself. An allow-list may have 10,000 subjects.
   */
  readonly subjects: readonly SubjectClaims[];
}

export interface SubjectClaims {
  readonly subject: string;
  readonly claims: readonly Claim[];
}

const NO_CLAIMS: readonly Claim[] = [];

/** The claims of a credential on a party, found without reading those on others. */
export function claimsOn({ subjects }: Credential, party: string): readonly Claim[] {
  let low = 0;
  let high = subjects.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = subjects[middle];
    if (found === undefined) break;
    if (found.subject === party) return found.claims;
    if (found.subject < party) low = middle + 1;
    else high = middle - 1;
  }
  return NO_CLAIMS;
}

export const credential = defineTemplate(
  "utility-credential-v0",
  "Utility.Credential.V0.Credential:Credential",
  (payload): Credential => {
    const [issuer, holder] = [payload.id("issuer"), payload.id("holder")];
    return {
      issuer,
      holder,
      validFrom: payload.optionalTime("validFrom"),
      validUntil: payload.optionalTime("validUntil"),
      subjects: groupClaims(payload.objects("claims"), issuer, holder),
    };
  },
  // By its holder too: a requirement without claims asks for any credential that is held.
  ({ issuer, holder, subjects }) =>
    [...new Set([holder, ...subjects.map(({ subject }) => subject)])].map((party) =>
      indexKeys.credential(issuer, party),
    ),
);

function groupClaims(claims: readonly JsonReader[], issuer: string, holder: string): SubjectClaims[] {
  const bySubject = new Map<string, Claim[]>();
  for (const fields of claims) {
    const subject = fields.text("subject");
    const claim = { property: fields.text("property"), value: fields.text("value") };
    if (subject !== holder && holder !== issuer) continue;
    const known = bySubject.get(subject);
    if (known === undefined) bySubject.set(subject, [claim]);
    else known.push(claim);
  }
  const subjects = [...bySubject].map(([subject, ofSubject]) => ({ subject, claims: ofSubject }));
  return subjects.toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
}

export interface TransferPreapproval {
  readonly operator: string;
  readonly receiver: string;
  readonly instrumentAdmin: string;
  /** Empty if every instrument of the admin is allowed. */
  readonly instrumentAllowances: readonly string[];
}

export const transferPreapproval = defineTemplate(
  "utility-registry-app-v0",
  "Utility.Registry.App.V0.Model.TransferPreapproval:TransferPreapproval",
  (payload): TransferPreapproval => ({
    operator: payload.id("operator"),
    receiver: payload.id("receiver"),
    instrumentAdmin: payload.id("instrumentAdmin"),
    instrumentAllowances: payload.objects("instrumentAllowances").map((allowance) => allowance.text("id")),
  }),
  ({ receiver, instrumentAdmin }) => [indexKeys.preapproval(receiver, instrumentAdmin)],
  ({ instrumentAdmin }) => instrumentAdmin,
);

/**
 * Only locked holdings are disclosed, so unlocked ones are optional: their owners matter to some requests, but there can
 * be millions. A lock never changes during the life of a holding. It has no `registrarOf`: answers of any registrar disclose the holding
 * that their instruction names.
 */
export const holding: Template<HoldingFields> = {
  packageName: "utility-registry-holding-v0",
  qualifiedName: "Utility.Registry.Holding.V0.Holding:Holding",
  parse(payload) {
    const reader = new JsonReader(payload, "");
    const fields = {
      owner: reader.id("owner"),
      operator: reader.id("operator"),
      provider: reader.id("provider"),
      registrar: reader.id("registrar"),
      instrumentId: reader.object("instrument").id("id"),
    };
    return { fields, indexKeys: [], isOptional: reader.optionalObject("lock") === undefined };
  },
  supplyContribution(payload) {
    const fields = new JsonReader(payload, "");
    const id = fields.object("instrument").id("id");
    return { sum: indexKeys.supply(fields.id("registrar"), id), amount: decimalField(fields, "amount") };
  },
};

export const templates: readonly Template[] = [
  allocationFactory,
  registrarService,
  instrumentConfiguration,
  transferRule,
  appRewardConfiguration,
  featuredAppRight,
  credential,
  transferPreapproval,
  transferOffer,
  dvpLegAllocation,
  mintRequest,
  mintOffer,
  burnRequest,
  burnOffer,
  holding,
];
