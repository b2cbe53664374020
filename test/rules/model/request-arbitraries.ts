/** Random requests to every operation. */
import fc from "fast-check";
import type { JsonObject } from "../../../src/domain/json.js";
import { allocationChoice, transferChoice } from "./choice-argument-arbitraries.js";
import { choiceContexts, type InstructionChoice } from "./contexts.js";
import type { Ledger } from "./ledger.js";
import { pick, settlementChoice } from "./settlement-arbitraries.js";
import { instrument, namedRegistrar, rarely, registrars, trader } from "./names.js";
import type { FactoryOperation, IssuanceOperation, RegistrarsChoice, Request } from "./requests.js";

/** A request that names contracts of the ledger as it is when the request is sent. */
export type RequestDraft = (ledger: Ledger) => Request;

const choiceNames = Object.keys(choiceContexts) as InstructionChoice[];
const isRegistrars = (choice: InstructionChoice): choice is RegistrarsChoice =>
  choice.startsWith("transfer-instruction/") || choice.startsWith("allocation/");

/** Mostly on a contract of the right template, by the right registrar. */
const choice: fc.Arbitrary<RequestDraft> = fc
  .record({
    operation: fc.constantFrom(...choiceNames),
    which: fc.nat(),
    wrong: fc.oneof(
      { weight: 12, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom("contract", "id", "registrar") },
    ),
    other: namedRegistrar,
  })
  .map(({ operation, which, wrong, other }) => (ledger) => {
    const { template } = choiceContexts[operation];
    const own = ledger.filter((contract) => contract.template === template);
    const contractId = wrong === "id" ? "00ff" : pick(wrong === "contract" || own.length === 0 ? ledger : own, which);
    if (!isRegistrars(operation)) return { operation, contractId };
    const found = JSON.stringify(ledger.find((contract) => contract.contractId === contractId)?.payload ?? {});
    const admin = /"admin":"([^"]*)"/.exec(found)?.[1] ?? other;
    return { operation, registrar: wrong === "registrar" ? other : admin, contractId };
  });

const constantDraft =
  (request: Request): RequestDraft =>
  () =>
    request;

const issuance: fc.Arbitrary<RequestDraft> = fc
  .record({
    operation: fc.oneof(
      fc.constantFrom<IssuanceOperation>(
        "mint-offer/create",
        "mint-request/create",
        "burn-offer/create",
        "burn-request/create",
      ),
      fc.constant<IssuanceOperation>("burn-mint-factory"),
    ),
    registrar: namedRegistrar,
    instrument,
    holders: fc.array(fc.oneof(trader, fc.constantFrom<string>(...registrars)), { minLength: 1, maxLength: 3 }),
  })
  .map(({ operation, holders, ...others }) =>
    constantDraft({ operation, ...others, holders: operation === "burn-mint-factory" ? holders : holders.slice(0, 1) }),
  );

const lookup: fc.Arbitrary<RequestDraft> = fc
  .record({ registrar: namedRegistrar, id: instrument, isExternal: rarely(4), isOther: rarely(8) })
  .map(({ registrar, id, isExternal, isOther }) =>
    constantDraft({
      operation: "instrument-configuration",
      registrar,
      identifier: { source: isExternal ? "ISO" : registrar, id, scheme: isOther ? "Other" : "Internal" },
    }),
  );

const list: fc.Arbitrary<RequestDraft> = fc
  .record({
    operation: fc.constantFrom("instruments", "supported-apis", "instrument-configurations", "operator"),
    registrar: namedRegistrar,
  })
  .map(({ operation, registrar }) =>
    constantDraft(
      operation === "instruments" || operation === "supported-apis" ? { operation, registrar } : { operation },
    ),
  );

const allocationInstruction: fc.Arbitrary<RequestDraft> = fc
  .record({
    operation: fc.constantFrom("allocation-instruction/accept", "allocation-instruction/withdraw"),
    registrar: namedRegistrar,
    which: fc.nat(),
  })
  .map(({ operation, registrar, which }) => (ledger) => ({ operation, registrar, contractId: pick(ledger, which) }));

const factory = (
  operation: FactoryOperation,
  choiceOf: (registrar: string) => fc.Arbitrary<(ledger: Ledger) => JsonObject>,
): fc.Arbitrary<RequestDraft> =>
  fc.oneof(
    ...registrars.map((registrar, index) => ({
      weight: [14, 5, 1][index] ?? 1,
      arbitrary: fc
        .tuple(choiceOf(registrar), fc.constantFrom("v1", "v2"))
        .map(([choiceArguments, apiVersion]): RequestDraft => (ledger) => ({
          operation,
          registrar,
          choiceArguments: choiceArguments(ledger),
          apiVersion,
        })),
    })),
  );

/** Arguments that do not depend on the ledger. */
const always =
  (choiceOf: (registrar: string) => fc.Arbitrary<JsonObject>) =>
  (registrar: string): fc.Arbitrary<() => JsonObject> =>
    choiceOf(registrar).map((value) => () => value);

export const request: fc.Arbitrary<RequestDraft> = fc.oneof(
  { weight: 5, arbitrary: factory("transfer-factory", always(transferChoice)) },
  { weight: 4, arbitrary: factory("allocation-factory", always(allocationChoice)) },
  { weight: 4, arbitrary: factory("settlement-factory", settlementChoice) },
  { weight: 14, arbitrary: choice },
  { weight: 5, arbitrary: issuance },
  { weight: 2, arbitrary: lookup },
  { weight: 3, arbitrary: list },
  { weight: 1, arbitrary: allocationInstruction },
);
