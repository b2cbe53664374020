/** The operations that read contracts and need no context. */
import { distinct } from "./choice-arguments.js";
import { type Expected, failed } from "./expected.js";
import { allocationFactoriesOf, type Situation, unservedFailures } from "./factories.js";
import { isOlder } from "./versions.js";
import {
  contractsOf,
  type Identifier,
  identifiersOf,
  isPaused,
  type Ledger,
  type LedgerContract,
  readText,
  registrarsContracts,
} from "./ledger.js";

/** The newest configuration with exactly this default identifier; without one, with this additional one. */
export function instrumentConfiguration({ ledger, registrar }: Situation, identifier: Identifier): Expected {
  const all = registrarsContracts(ledger, "InstrumentConfiguration", registrar);
  const isAsked = (one: Identifier): boolean =>
    one.source === identifier.source && one.id === identifier.id && one.scheme === identifier.scheme;
  const byDefault = all.filter((configuration) => identifiersOf(configuration).slice(0, 1).some(isAsked));
  const candidates = byDefault.length > 0 ? byDefault : all.filter((one) => identifiersOf(one).some(isAsked));
  const active = candidates.find(({ synchronizerId }) => synchronizerId !== undefined);
  if (active !== undefined) return { kind: "contracts", contractIds: [active.contractId] };
  return candidates.length > 0 ? failed(409) : failed(404, identifier.id);
}

/** The instruments of a registrar by their default ids. Metadata discloses nothing, so no synchronizer matters. */
export function listInstruments(situation: Situation): Expected {
  const unserved = unservedFailures(situation);
  if (unserved.length > 0) return { kind: "failure", failures: unserved };
  const all = registrarsContracts(situation.ledger, "InstrumentConfiguration", situation.registrar);
  return {
    kind: "instruments",
    instruments: distinct(all.map(defaultIdOf)).map((id) => {
      const newest = all.find((one) => defaultIdOf(one) === id);
      return { id, paused: newest !== undefined && isPaused(newest) };
    }),
  };
}

const defaultIdOf = (configuration: LedgerContract): string => identifiersOf(configuration)[0]?.id ?? "";

/** The newest active configuration of each default identifier. */
export function allConfigurations(ledger: Ledger): Expected {
  const active = contractsOf(ledger, "InstrumentConfiguration").filter(
    ({ synchronizerId }) => synchronizerId !== undefined,
  );
  const newest = active.filter((one) => active.find((other) => nameOf(other) === nameOf(one)) === one);
  return { kind: "contracts", contractIds: newest.map(({ contractId }) => contractId) };
}

const nameOf = (configuration: LedgerContract): string =>
  JSON.stringify([readText(configuration.payload, "registrar"), identifiersOf(configuration)[0]]);

/** The operator that the newest factory names. */
export function findOperator(ledger: Ledger): Expected {
  const factories = contractsOf(ledger, "AllocationFactory");
  const [party] = factories.flatMap(({ payload }) => readText(payload, "operator") ?? []);
  return party === undefined ? failed(404) : { kind: "party", party };
}

const version1 = {
  "splice-api-token-metadata-v1": 2,
  "splice-api-token-transfer-instruction-v1": 1,
  "splice-api-token-allocation-v1": 1,
  "splice-api-token-allocation-instruction-v1": 1,
  "splice-api-token-holding-v1": 1,
  "splice-api-token-allocation-request-v1": 1,
};
const version2 = {
  "splice-api-token-transfer-instruction-v2": 1,
  "splice-api-token-allocation-v2": 1,
  "splice-api-token-allocation-instruction-v2": 1,
  "splice-api-token-holding-v2": 1,
  "splice-api-token-allocation-request-v2": 1,
  "splice-api-token-transfer-events-v2": 1,
};

/** No version 2 for a registrar whose factories are all of utility-registry-app-v0 before 0.9.0. */
export function supportedApis(situation: Situation): Expected {
  const unserved = unservedFailures(situation);
  if (unserved.length > 0) return { kind: "failure", failures: unserved };
  const isOld = allocationFactoriesOf(situation).every((factory) => isOlder(situation.settings, factory, "0.9.0"));
  return { kind: "supported apis", apis: isOld ? version1 : { ...version1, ...version2 } };
}
