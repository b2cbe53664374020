/** What a party holds: credentials, and approvals given beforehand. */
import type { JsonReader } from "../../sdk/json-reader.js";
import type { Claim } from "../../sdk/registry.js";
import { indexKeys } from "./index-keys.js";
import { defineTemplate } from "./define-template.js";

export interface Credential {
  readonly issuer: string;
  readonly holder: string;
  /** Microseconds since 1970; undefined where it has always been valid. */
  readonly validFrom: number | undefined;
  /** Microseconds since 1970; undefined where it never ends. */
  readonly validUntil: number | undefined;
  /** What it claims of its holder; what it claims of others is nothing that an instrument asks for. */
  readonly claims: readonly Claim[];
}

export const credential = defineTemplate(
  "utility-credential-v0",
  "Utility.Credential.V0.Credential:Credential",
  (payload): Credential => ({
    issuer: payload.id("issuer"),
    holder: payload.id("holder"),
    validFrom: payload.optionalTime("validFrom"),
    validUntil: payload.optionalTime("validUntil"),
    claims: shared(claimsOn(payload.id("holder"), payload.objects("claims"))),
  }),
  ({ holder, issuer }) => [indexKeys.credential(holder, issuer)],
);

function claimsOn(holder: string, claims: readonly JsonReader[]): Claim[] {
  const read = claims.map((claim) => ({
    subject: claim.text("subject"),
    property: claim.text("property"),
    value: claim.text("value"),
  }));
  return read.filter(({ subject }) => subject === holder).map(({ property, value }) => ({ property, value }));
}

/** How many lists of claims are remembered; when there are more, it begins anew. */
const MOST_LISTS = 1_000;
const lists = new Map<string, readonly Claim[]>();

/** Most credentials of an issuer claim the same: that is one list for all of them, which is in the processor's cache when it is needed. */
function shared(claims: readonly Claim[]): readonly Claim[] {
  const name = JSON.stringify(claims);
  const known = lists.get(name);
  if (known !== undefined) return known;
  if (lists.size >= MOST_LISTS) lists.clear();
  lists.set(name, claims);
  return claims;
}

export interface TransferPreapproval {
  readonly receiver: string;
  readonly instrumentAdmin: string;
  /** Empty where every instrument of the admin is allowed. */
  readonly instrumentAllowances: readonly string[];
}

export const transferPreapproval = defineTemplate(
  "utility-registry-app-v0",
  "Utility.Registry.App.V0.Model.TransferPreapproval:TransferPreapproval",
  (payload): TransferPreapproval => ({
    receiver: payload.id("receiver"),
    instrumentAdmin: payload.id("instrumentAdmin"),
    instrumentAllowances: payload.objects("instrumentAllowances").map((allowance) => allowance.text("id")),
  }),
  ({ receiver, instrumentAdmin }) => [indexKeys.preapproval(receiver, instrumentAdmin)],
);
