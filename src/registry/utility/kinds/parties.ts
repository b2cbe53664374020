/** What a party holds: credentials, and approvals given beforehand. */
import { keys } from "./keys.js";
import { kind } from "./kind.js";

export interface Credential {
  readonly issuer: string;
  readonly holder: string;
  /** Microseconds since 1970; undefined where it has always been valid. */
  readonly validFrom: number | undefined;
  /** Microseconds since 1970; undefined where it never ends. */
  readonly validUntil: number | undefined;
  readonly claims: readonly { readonly subject: string; readonly property: string; readonly value: string }[];
}

export const credential = kind(
  "utility-credential-v0",
  "Utility.Credential.V0.Credential:Credential",
  (payload): Credential => ({
    issuer: payload.id("issuer"),
    holder: payload.id("holder"),
    validFrom: payload.optionalTime("validFrom"),
    validUntil: payload.optionalTime("validUntil"),
    claims: payload.objects("claims").map((claim) => ({
      subject: claim.text("subject"),
      property: claim.text("property"),
      value: claim.text("value"),
    })),
  }),
  ({ holder, issuer }) => [keys.credential(holder, issuer)],
);

export interface TransferPreapproval {
  readonly receiver: string;
  readonly instrumentAdmin: string;
  /** Empty where every instrument of the admin is allowed. */
  readonly instrumentAllowances: readonly string[];
}

export const transferPreapproval = kind(
  "utility-registry-app-v0",
  "Utility.Registry.App.V0.Model.TransferPreapproval:TransferPreapproval",
  (payload): TransferPreapproval => ({
    receiver: payload.id("receiver"),
    instrumentAdmin: payload.id("instrumentAdmin"),
    instrumentAllowances: payload.objects("instrumentAllowances").map((allowance) => allowance.text("id")),
  }),
  ({ receiver, instrumentAdmin }) => [keys.preapproval(receiver, instrumentAdmin)],
);
