/** Random requests: those of the model, and to operations that it does not predict. */
import fc from "fast-check";
import type { JsonObject } from "../../src/domain/json.js";
import type { Ledger } from "../rules/model/ledger.js";
import { instrument, namedRegistrar, registrars, traders } from "../rules/model/names.js";
import { request as ofModel } from "../rules/model/request-arbitraries.js";
import type { Request as ModelRequest } from "../rules/model/requests.js";

export type OtherRequest =
  | { readonly operation: "packages" }
  | { readonly operation: "configuration-page"; readonly page: number; readonly size: number }
  | { readonly operation: "instrument"; readonly registrar: string; readonly id: string }
  | { readonly operation: "instrument-page"; readonly registrar: string; readonly size: number };
export type Request = ModelRequest | OtherRequest;

/** A request that names contracts of the ledger as it is when the request is sent. */
export type Draft = (ledger: Ledger) => Request;

const other = fc.oneof(
  fc.constant<OtherRequest>({ operation: "packages" }),
  fc.record({
    operation: fc.constant("configuration-page" as const),
    page: fc.constantFrom(0, 1),
    size: fc.constantFrom(1, 3),
  }),
  fc.record({ operation: fc.constant("instrument" as const), registrar: namedRegistrar, id: instrument }),
  fc.record({
    operation: fc.constant("instrument-page" as const),
    registrar: namedRegistrar,
    size: fc.constantFrom(1, 3),
  }),
);

const meta = { values: {} };
const account = (owner: string): JsonObject => ({ owner, provider: null, id: "" });
/** The limit of the model's settings. */
const PARTIES = 60;

/** A settlement of so many parties that its response has no list of tags. */
const large = fc.constantFrom(...registrars.slice(0, 2)).map((registrar): Request => {
  const parties = Array.from({ length: PARTIES }, (_, index) => traders[index] ?? `owner-${index}::1220`);
  const extraArgs = { context: { values: {} }, meta };
  const legs = parties.map((party, index): JsonObject => ({
    sender: account(party),
    receiver: account(parties[(index + 1) % PARTIES] ?? party),
    instrumentId: "USD",
  }));
  const settlement = { executors: ["executor::1220"], id: "trade", cid: null, meta };
  const choiceArguments = { settlement, transferLegs: legs, allocations: [], actors: ["executor::1220"], extraArgs };
  return { operation: "settlement-factory", registrar, choiceArguments };
});

const always =
  (drawn: Request): Draft =>
  () =>
    drawn;

export const request: fc.Arbitrary<Draft> = fc.oneof(
  { weight: 16, arbitrary: ofModel },
  { weight: 2, arbitrary: other.map(always) },
  { weight: 1, arbitrary: large.map(always) },
);
