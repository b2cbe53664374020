/** Random contracts of every template: where they are, of which release, and which optional fields they have. */
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../src/domain/json.js";
import type { Template } from "../../fixtures/elements.js";

/** The party by which version 1 names the special account. */
const NO_OWNER = "cip-112_no-owner::1220000000000000000000000000000000000000000000000000000000000000abcd";

/** The time of every request, in milliseconds since 1970. */
export const NOW = Date.parse("2026-06-01T00:00:00Z");

/** The first two have contracts; the third has no factory. */
export const registrars = ["gold::1220", "silver::1220", "tin::1220"] as const;
export const synchronizers = ["sync-A", "sync-B"] as const;
export const operators = ["operator::1220", "operator-2::1220"] as const;
export const providers = ["provider::1220", "provider-2::1220"] as const;
export const issuers = ["issuer::1220", "gold::1220"] as const;
export const traders = ["alice::1220", "bob::1220", "carol::1220"] as const;
/** GBP has no configuration of its own. 840 is an additional identifier. */
export const instruments = ["USD", "EUR", "840", "GBP"] as const;
export const claims = ["holds", "resides", "adult"] as const;

type Weighted<T> = readonly [weight: number, arbitrary: fc.Arbitrary<T>];
/** One of these, each as often as its weight says. */
export const weighted = <T extends readonly Weighted<unknown>[]>(
  ...choices: T
): fc.Arbitrary<T[number] extends Weighted<infer U> ? U : never> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary }))) as fc.Arbitrary<never>;

export const registrar = weighted([6, fc.constant(registrars[0])], [2, fc.constant(registrars[1])]);
/** For requests: also one that is not served. */
export const namedRegistrar = weighted([20, registrar], [1, fc.constant(registrars[2])]);
export const operator = weighted([15, fc.constant(operators[0])], [1, fc.constant(operators[1])]);
export const provider = weighted([10, fc.constant(providers[0])], [1, fc.constant(providers[1])]);
export const instrument = weighted(
  [6, fc.constant("USD")],
  [3, fc.constant("EUR")],
  [1, fc.constantFrom("840", "GBP")],
);
export const anyIssuer = weighted([3, fc.constant<string>(issuers[0])], [1, fc.constant<string>(issuers[1])]);
export const trader = fc.constantFrom(...traders);
/** A party that may also be the registrar, or the name of the special account. */
export const party = weighted([16, trader], [1, fc.constantFrom(...registrars)], [1, fc.constant(NO_OWNER)]);
/** True once in `n` times. */
export const rarely = (n: number): fc.Arbitrary<boolean> =>
  weighted([n - 1, fc.constant(false)], [1, fc.constant(true)]);

/** A contract before it has an id. */
export interface ContractDraft {
  readonly template: Template;
  readonly payload: JsonObject;
  readonly placement: Placement;
  /** The holding that an instruction locks: created with it. Its contract id is written into the payload. */
  readonly locks: LockedHolding | undefined;
}

export interface Placement {
  /** From 0 to 4: the five releases of the specification, each with its own packages. */
  readonly release: number;
  readonly createdAt: string;
  /** Undefined: in reassignment. */
  readonly synchronizerId: string | undefined;
  /** Before the number of the contract in its id: the order of ids is not that of creation. */
  readonly idPrefix: string;
  /** Whether its package has another name than that of the Registry Utility. */
  readonly isLookalike: boolean;
}

export interface LockedHolding {
  /** Where it is: with its instruction, elsewhere, or nowhere. */
  readonly place: "same" | "other" | "moving" | "gone";
  readonly isLocked: boolean;
}

export const often = <T>(value: T, other: fc.Arbitrary<T>, weight: number): fc.Arbitrary<T> =>
  weighted([weight, fc.constant(value)], [1, other]);

/** Few times, of which some are equal: the second and the third are one instant. */
const createdAt = fc.constantFrom(
  "2026-01-05T09:00:00.000000Z",
  "2026-02-05T09:00:00.5Z",
  "2026-02-05T09:00:00.500000Z",
  "2026-02-05T09:00:00.500001Z",
);
const [syncA, syncB] = synchronizers;
const placement: fc.Arbitrary<Placement> = fc.record({
  release: fc.nat({ max: 4 }),
  createdAt,
  synchronizerId: weighted(
    [14, fc.constant<string | undefined>(syncA)],
    [2, fc.constant(syncB)],
    [1, fc.constant(undefined)],
  ),
  idPrefix: fc.constantFrom("00a", "00b", "00c"),
  isLookalike: often(false, fc.constant(true), 40),
});

export const lockedHolding: fc.Arbitrary<LockedHolding> = fc.record({
  place: often("same", fc.constantFrom("other", "moving", "gone"), 10),
  isLocked: often(true, fc.constant(false), 20),
});

/** An optional field at the end of a payload: absent before the release that brought it, and then absent, null or set. */
export const trailing = (
  { release }: Placement,
  since: number,
  name: string,
  value: JsonValue | undefined,
): JsonObject => (release < since || value === undefined ? {} : { [name]: value });

export const optional = <T extends JsonValue>(value: fc.Arbitrary<T>): fc.Arbitrary<JsonValue | undefined> =>
  weighted([2, value], [1, fc.constant(null)], [1, fc.constant(undefined)]);

export function draft<T>(
  template: Template,
  fields: fc.Arbitrary<T>,
  payload: (fields: T, placement: Placement) => JsonObject,
  locks: fc.Arbitrary<LockedHolding | undefined> = fc.constant(undefined),
): fc.Arbitrary<ContractDraft> {
  return fc.record({ fields, placement, locks }).map((drawn) => ({
    template,
    payload: payload(drawn.fields, drawn.placement),
    placement: drawn.placement,
    locks: drawn.locks,
  }));
}

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

/** At, just before and just after the time of the requests; the others are long before and after it. */
const time = fc.constantFrom<JsonValue | undefined>(
  "2026-06-01T00:00:00Z",
  "2026-05-31T23:59:59.999999Z",
  "2026-06-01T00:00:00.000001Z",
  "2030-01-01T00:00:00Z",
  "2025-01-01T00:00:00Z",
);
const claim = fc.record({
  subject: weighted([4, trader], [1, fc.constantFrom(...registrars)]),
  property: fc.constantFrom(...claims),
  value: often("yes", fc.constant("no"), 12),
});
export const credential = draft(
  "Credential",
  fc.record({
    issuer: anyIssuer,
    /** Undefined: the issuer. */
    holder: weighted([8, trader], [6, fc.constant(undefined)], [1, fc.constantFrom(...issuers)]),
    /** Claims on the holder, which is the usual case, and others. */
    own: fc.subarray([...claims]),
    others: fc.array(claim, { maxLength: 4 }),
    validFrom: often<JsonValue | undefined>(null, time, 3),
    validUntil: often<JsonValue | undefined>(undefined, fc.oneof(time, fc.constant(null)), 2),
  }),
  ({ issuer, holder = issuer, own, others, validFrom, validUntil }) => ({
    issuer,
    holder,
    id: "credential",
    description: "",
    ...(validFrom === undefined ? {} : { validFrom }),
    ...(validUntil === undefined ? {} : { validUntil }),
    claims: [...own.map((property): JsonObject => ({ subject: holder, property, value: "yes" })), ...others],
    observers: { map: [] },
  }),
);
export const preapproval = draft(
  "TransferPreapproval",
  fc.record({
    operator,
    receiver: often<string>(traders[1], fc.constantFrom(...traders, ...registrars), 2),
    instrumentAdmin: registrar,
    allowances: often<readonly string[]>([], fc.subarray(["USD", "EUR", "840"], { minLength: 1 }), 1),
  }),
  ({ allowances, ...fields }) => ({ ...fields, instrumentAllowances: allowances.map((id) => ({ id })) }),
);

const meta = { values: {} };
const terms = {
  amount: "1.0000000000",
  requestedAt: "2026-01-05T09:00:00Z",
  executeBefore: "2036-01-05T09:00:00Z",
  meta,
};
const instrumentId = fc.record({ admin: registrar, id: instrument });
const offer = draft(
  "TransferOffer",
  fc.record({ operator, provider, transfer: fc.record({ sender: party, receiver: party, instrumentId }) }),
  ({ transfer, ...fields }) => ({ ...fields, transfer: { ...transfer, ...terms, inputHoldingCids: [] } }),
  fc.option(lockedHolding, { freq: 10, nil: undefined }),
);
const allocation = draft(
  "DvpLegAllocation",
  fc.record({
    operator,
    provider,
    leg: fc.record({ sender: party, receiver: party, instrumentId }),
  }),
  ({ leg, ...parties }) => ({
    ...parties,
    allocation: {
      settlement: {
        executor: "executor::1220",
        settlementRef: { id: "trade", cid: null },
        requestedAt: "2026-01-05T09:00:00Z",
        allocateBefore: "2036-01-05T09:00:00Z",
        settleBefore: "2036-01-05T09:00:00Z",
        meta,
      },
      transferLegId: "leg",
      transferLeg: { ...leg, amount: "1.0000000000", meta },
    },
  }),
  lockedHolding,
);
const issuance = (template: Template, name: "mint" | "burn", locks?: fc.Arbitrary<LockedHolding>) =>
  draft(
    template,
    fc.record({ operator, provider, issued: fc.record({ instrumentId, holder: trader }) }),
    ({ issued, ...fields }) => ({ ...fields, [name]: { ...issued, ...terms, reference: "" } }),
    locks,
  );

export const instruction = weighted(
  [3, offer],
  [3, allocation],
  [1, issuance("MintOffer", "mint")],
  [1, issuance("MintRequest", "mint")],
  [1, issuance("BurnOffer", "burn")],
  [1, issuance("BurnRequest", "burn", lockedHolding)],
);

/** One of each instruction, so that every operation has something to be asked about. */
export const oneOfEach = fc.tuple(
  offer,
  allocation,
  issuance("MintOffer", "mint"),
  issuance("MintRequest", "mint"),
  issuance("BurnOffer", "burn"),
  issuance("BurnRequest", "burn", lockedHolding),
);
