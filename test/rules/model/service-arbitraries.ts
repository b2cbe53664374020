/** Random contracts that a registrar has: factories, services, configurations, rules and rewards. */
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../src/domain/json.js";
import { draft, often, optional, trailing } from "./contract-drafts.js";
import { anyIssuer, claims, operator, provider } from "./names.js";

const identifier = (source: string, id: string): JsonObject => ({ source, id, scheme: "Internal" });
const requirements = fc.array(fc.record({ issuer: anyIssuer, claims: fc.subarray([...claims]) }), { maxLength: 2 });
const requirementList = (drawn: readonly { issuer: string; claims: readonly string[] }[]): JsonValue[] =>
  drawn.map((one) => ({ issuer: one.issuer, requiredClaims: one.claims.map((claim) => ({ _1: claim, _2: "yes" })) }));

export const factoryOf = (of: fc.Arbitrary<string>) =>
  draft("AllocationFactory", fc.record({ operator, provider, registrar: of }), (fields) => fields);
export const serviceOf = (of: fc.Arbitrary<string>) =>
  draft(
    "RegistrarService",
    fc.record({ fields: fc.record({ operator, provider, registrar: of }), enable: optional(fc.boolean()) }),
    ({ fields, enable }, where) => ({ ...fields, ...trailing(where, 1, "enableResultContracts", enable) }),
  );
export const configurationOf = (of: fc.Arbitrary<string>, id: fc.Arbitrary<string>) =>
  draft(
    "InstrumentConfiguration",
    fc.record({
      fields: fc.record({ operator, provider, registrar: of }),
      id,
      additional: often<readonly string[]>([], fc.subarray(["840", "EUR"], { minLength: 1 }), 3),
      holderRequirements: requirements,
      issuerRequirements: requirements,
      beneficiaries: fc.constantFrom(null, undefined),
      checkBlocklist: often<JsonValue | undefined>(false, fc.constantFrom(true, true, true, null, undefined), 1),
      isPaused: optional(fc.constantFrom<JsonValue>("Paused", {}, true)),
    }),
    ({ fields, id: ownId, additional, beneficiaries, ...drawn }, where) => ({
      ...fields,
      defaultIdentifier: identifier(fields.registrar, ownId),
      additionalIdentifiers: additional.map((other) => identifier("ISO", other)),
      issuerRequirements: requirementList(drawn.issuerRequirements),
      holderRequirements: requirementList(drawn.holderRequirements),
      ...trailing(where, 0, "providerAppRewardBeneficiaries", beneficiaries),
      ...trailing(where, 2, "checkBlocklist", drawn.checkBlocklist),
      ...trailing(where, 4, "isPaused", drawn.isPaused),
    }),
  );
export const ruleOf = (of: fc.Arbitrary<string>) =>
  draft("TransferRule", fc.record({ operator, provider, registrar: of }), (fields) => fields);

export const reward = draft(
  "AppRewardConfiguration",
  fc.record({ operator, provider, dso: fc.constantFrom("dso::1220", "dso-2::1220") }),
  ({ dso, ...fields }) => ({
    ...fields,
    details: { dso, operatorAppRewardBeneficiary: { beneficiary: fields.operator, weight: "0.2" } },
  }),
);
export const right = draft(
  "FeaturedAppRight",
  fc.record({ dso: fc.constantFrom("dso::1220", "dso-2::1220"), provider }),
  (fields) => fields,
);
