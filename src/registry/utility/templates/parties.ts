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
