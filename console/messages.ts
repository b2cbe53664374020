/**
 * The messages of proto/offledger/console, explain and refusal as proto3 JSON: empty fields are absent, 64-bit numbers
 * are strings, durations such as `1.5s`, timestamps by RFC 3339.
 */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export interface Claim {
  readonly property?: string;
  readonly value?: string;
}

export interface Cause {
  readonly code?: string;
  readonly message?: string;
  readonly registrar?: string;
  readonly instrument?: string;
  readonly party?: string;
  readonly issuer?: string;
  readonly claims?: readonly Claim[];
  readonly contractId?: string;
  readonly template?: string;
  readonly synchronizers?: readonly string[];
  readonly field?: string;
  readonly limit?: string;
  readonly maximum?: number;
}

export interface Contract {
  readonly contractId?: string;
  readonly template?: string;
  readonly packageId?: string;
  readonly packageName?: string;
  readonly packageVersion?: string;
  readonly synchronizer?: string;
  readonly createdAt?: string;
}

export interface Call {
  readonly operation?: string;
  readonly request?: JsonObject;
}

export interface Inventory {
  readonly registrars?: readonly Registrar[];
  readonly templates?: readonly TemplateCount[];
  readonly warnings?: readonly Warning[];
  readonly checked?: boolean;
  readonly omitted?: number;
  readonly source?: string;
  readonly version?: string;
  readonly foreignContracts?: string;
}

export interface Registrar {
  readonly party?: string;
  readonly instruments?: readonly Instrument[];
  readonly services?: readonly Service[];
  readonly omittedInstruments?: number;
}

export interface Instrument {
  readonly id?: string;
  readonly otherIds?: readonly string[];
  readonly paused?: boolean;
  readonly checksBlocklist?: boolean;
  readonly holderRequirements?: readonly IssuerClaims[];
  readonly issuerRequirements?: readonly IssuerClaims[];
  readonly configuration?: Contract;
}

export interface IssuerClaims {
  readonly issuer?: string;
  readonly claims?: readonly Claim[];
}

export interface Service {
  readonly name?: string;
  readonly contract?: Contract;
}

export interface TemplateCount {
  readonly template?: string;
  readonly packageId?: string;
  readonly count?: string;
}

export interface Warning {
  readonly kind?: string;
  readonly registrar?: string;
  readonly instrument?: string;
  readonly contractId?: string;
  readonly party?: string;
  readonly operations?: readonly string[];
  readonly status?: number;
  readonly problem?: string;
  readonly help?: string;
  readonly count?: number;
}

export interface Freshness {
  readonly notReadyReason?: string;
  readonly points?: readonly FreshnessPoint[];
}

export interface FreshnessPoint {
  readonly time?: string;
  readonly offset?: string;
  readonly age?: string;
  readonly reconnects?: string;
}

export interface Requests {
  readonly operations?: readonly OperationCount[];
  readonly since?: string;
}

export interface OperationCount {
  readonly operation?: string;
  readonly requests?: string;
  readonly refusals?: Readonly<Record<string, string>>;
}

export interface Refusals {
  readonly refusals?: readonly RefusedRequest[];
}

export interface RefusedRequest {
  readonly requestId?: string;
  readonly time?: string;
  readonly operation?: string;
  readonly protocol?: string;
  readonly status?: string;
  readonly error?: string;
  readonly causes?: readonly Cause[];
  readonly request?: JsonObject;
}

export interface Party {
  readonly credentials?: readonly PartyCredential[];
  readonly preapprovals?: readonly Preapproval[];
  readonly instructions?: readonly PendingInstruction[];
  readonly incomplete?: boolean;
}

export interface PartyCredential {
  readonly contract?: Contract;
  readonly issuer?: string;
  readonly holder?: string;
  readonly claims?: readonly Claim[];
  readonly validFrom?: string;
  readonly validUntil?: string;
}

export interface Preapproval {
  readonly contract?: Contract;
  readonly registrar?: string;
  readonly instruments?: readonly string[];
}

export interface PendingInstruction {
  readonly contract?: Contract;
  readonly registrar?: string;
  readonly instruments?: readonly string[];
  readonly sender?: string;
  readonly receiver?: string;
  readonly causes?: readonly Cause[];
  readonly completion?: Call;
}

export interface StoredContract {
  readonly contract?: Contract;
  readonly payload?: JsonObject;
  /** By the id of the interface. */
  readonly views?: Readonly<Record<string, JsonObject>>;
  readonly archived?: boolean;
  readonly calls?: readonly Call[];
}

export interface Explanation {
  readonly operation?: string;
  readonly request?: JsonObject;
  readonly at?: string;
  readonly offset?: string;
  readonly succeeds?: boolean;
  readonly answer?: JsonObject;
  readonly status?: string;
  readonly error?: string;
  readonly causes?: readonly Cause[];
  readonly changes?: readonly Change[];
  readonly searches?: readonly Search[];
  readonly requirements?: readonly Requirement[];
  readonly disclosures?: readonly Disclosure[];
  readonly validUntil?: string;
  readonly notes?: readonly string[];
}

export interface Change {
  readonly cause?: Cause;
  readonly help?: string;
}

export interface Search {
  readonly name?: string;
  readonly template?: string;
  readonly synchronizer?: string;
  readonly entries?: readonly string[];
  readonly required?: boolean;
  readonly candidates?: readonly Candidate[];
  readonly omittedCandidates?: number;
}

export interface Candidate {
  readonly contract?: Contract;
  readonly chosen?: boolean;
  readonly reason?: string;
}

export interface Requirement {
  readonly party?: string;
  readonly issuer?: string;
  readonly instruments?: readonly string[];
  readonly synchronizer?: string;
  readonly required?: boolean;
  readonly claims?: readonly RequiredClaim[];
}

export interface RequiredClaim {
  readonly property?: string;
  readonly value?: string;
  readonly credential?: string;
  readonly validUntil?: string;
  readonly passedOver?: readonly Candidate[];
  readonly omittedPassedOver?: number;
}

export interface Disclosure {
  readonly contract?: Contract;
  readonly entries?: readonly string[];
}

export interface Verdict {
  readonly succeeds?: boolean;
  readonly error?: string;
  readonly errorCode?: string;
  readonly synchronizer?: string;
  readonly trafficCost?: string;
  readonly offset?: string;
}
