/** Random credentials and preapprovals. */
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../src/domain/json.js";
import { draft, often } from "./contract-drafts.js";
import { anyIssuer, claims, issuers, operator, registrar, registrars, trader, traders } from "./names.js";

/** At, just before and just after the time of the requests; the others are long before and after it. */
const time = fc.constantFrom<JsonValue | undefined>(
  "2026-06-01T00:00:00Z",
  "2026-05-31T23:59:59.999999Z",
  "2026-06-01T00:00:00.000001Z",
  "2030-01-01T00:00:00Z",
  "2025-01-01T00:00:00Z",
);
const claim = fc.record({
  subject: fc.oneof({ weight: 4, arbitrary: trader }, { weight: 1, arbitrary: fc.constantFrom(...registrars) }),
  property: fc.constantFrom(...claims),
  value: often("yes", fc.constant("no"), 12),
});
export const credential = draft(
  "Credential",
  fc.record({
    issuer: anyIssuer,
    /** Undefined: the issuer. */
    holder: fc.oneof(
      { weight: 8, arbitrary: trader },
      { weight: 6, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom(...issuers) },
    ),
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
