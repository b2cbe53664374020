import type { JsonReader } from "../../sdk/json-reader.js";
import type { Claim } from "../../sdk/registry.js";
import { indexKeys } from "./index-keys.js";
import { defineTemplate } from "./define-template.js";

export interface Credential {
  readonly issuer: string;
  readonly holder: string;
  /** Microseconds since 1970; undefined if it has always been valid. */
  readonly validFrom: number | undefined;
  /** Microseconds since 1970; undefined if it never expires. */
  readonly validUntil: number | undefined;
  /** The claims whose subject is the holder; instruments require no others. */
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
    claims: claimsOn(payload.id("holder"), payload.objects("claims")),
  }),
  ({ holder, issuer }) => [indexKeys.credential(holder, issuer)],
);

function claimsOn(holder: string, claims: readonly JsonReader[]): Claim[] {
  const all = claims.map((claim) => ({
    subject: claim.text("subject"),
    property: claim.text("property"),
    value: claim.text("value"),
  }));
  return all.filter(({ subject }) => subject === holder).map(({ property, value }) => ({ property, value }));
}

export interface TransferPreapproval {
  readonly receiver: string;
  readonly instrumentAdmin: string;
  /** Empty if every instrument of the admin is allowed. */
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
