/** The model: what the specification expects of each request on a ledger. */
import type { JsonObject } from "../../../src/domain/json.js";
import { type Account, allocationArguments, distinct } from "./arguments.js";
import { buildContext, type Holder } from "./context.js";
import {
  allocationFactoriesOf,
  answerWithFactory,
  settlementFactory,
  type Situation,
  transferFactory,
  unservedFailures,
  withArguments,
} from "./factories.js";
import {
  contractsOf,
  groupOf,
  type Identifier,
  identifiersOf,
  isOlder,
  isPaused,
  type Ledger,
  type LedgerContract,
  readText,
  registrarsContracts,
} from "./ledger.js";
import { findInstruction, lockedHoldings } from "./instructions.js";
import { type Expected, failed, type IssuanceOperation, type Request, type Settings } from "./requests.js";
import { choiceContexts, type ContextRow, type InstructionChoice } from "./table.js";

export function expectedAnswer(ledger: Ledger, settings: Settings, request: Request): Expected {
  const situation: Situation = { ledger, settings, registrar: "registrar" in request ? request.registrar : "" };
  switch (request.operation) {
    case "transfer-factory":
      return transferFactory(situation, request.choiceArguments, request.apiVersion === "v2");
    case "allocation-factory":
      return allocationFactory(situation, request.choiceArguments, request.apiVersion === "v2");
    case "settlement-factory":
      return settlementFactory(situation, request.choiceArguments);
    case "mint-offer/create":
    case "mint-request/create":
    case "burn-offer/create":
    case "burn-request/create":
    case "burn-mint-factory":
      return issuanceFactory(situation, request.operation, request);
    case "allocation-instruction/accept":
    case "allocation-instruction/withdraw": {
      // "A registry with no pending allocation instructions answers 400."
      const unserved = unservedFailures(situation);
      return unserved.length > 0 ? { kind: "failure", failures: unserved } : failed(400);
    }
    case "instrument-configuration":
      return instrumentConfiguration(situation, request.identifier);
    case "instruments":
      return listInstruments(situation);
    case "supported-apis":
      return supportedApis(situation);
    case "instrument-configurations":
      return allConfigurations(ledger);
    case "operator":
      return findOperator(ledger);
    default:
      return choiceContext(situation, request);
  }
}

function allocationFactory(situation: Situation, choice: JsonObject, isVersion2: boolean): Expected {
  return withArguments(
    situation,
    () => allocationArguments(situation.registrar, choice),
    ({ sender, instruments, sent }) =>
      answerWithFactory(situation, {
        operation: "allocation-factory",
        inputs: { instruments, sender: { account: sender, instruments: sent } },
        isVersion2,
      }),
  );
}

interface Issuance {
  readonly instrument: string;
  readonly holders: readonly string[];
}

function issuanceFactory(
  situation: Situation,
  operation: IssuanceOperation,
  { instrument, holders }: Issuance,
): Expected {
  const unserved = unservedFailures(situation);
  if (unserved.length > 0) return { kind: "failure", failures: unserved };
  const inputs = { instruments: [instrument], issuers: distinct(holders) };
  return answerWithFactory(situation, { operation, inputs, isVersion2: false });
}

interface ChoiceRequest {
  readonly operation: InstructionChoice;
  readonly contractId: string;
  /** Absent if the path names none. */
  readonly registrar?: string;
}

function choiceContext(situation: Situation, { operation, registrar, contractId }: ChoiceRequest): Expected {
  const { ledger, settings } = situation;
  const row: ContextRow = choiceContexts[operation];
  const instruction = findInstruction(ledger, choiceContexts[operation].template, contractId, registrar);
  if (instruction === undefined) {
    // An instruction that is known is answered even if the factory is gone.
    const unserved = registrar === undefined ? [] : unservedFailures(situation);
    return failed(404, ...(unserved[0]?.mentions ?? [contractId]));
  }
  const { contract, instrument, sender, receiver, holder } = instruction;
  const synchronizer = contract.synchronizerId;
  if (synchronizer === undefined) return failed(409);
  const instruments = [instrument];
  const holderOf = (account: Account | undefined): Holder | undefined =>
    account === undefined ? undefined : { account, instruments };
  const { context, missing, blocked } = buildContext(
    { ledger, settings, registrar: instruction.registrar, group: groupOf(contract), synchronizer },
    row,
    contract,
    {
      instruments,
      sender: holderOf(sender),
      receiver: holderOf(receiver),
      issuers: holder === undefined ? [] : [holder],
    },
    lockedHoldings(ledger, instruction),
  );
  const failures = [...missing, ...blocked];
  return failures.length > 0 ? { kind: "failure", failures } : { kind: "context", context };
}

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
  const { settings } = situation;
  const isCurrent = allocationFactoriesOf(situation).some(
    (factory) => settings.packageVersions.has(factory.packageId) && !isOlder(settings, factory, "0.9.0"),
  );
  return { kind: "supported apis", apis: isCurrent ? { ...version1, ...version2 } : version1 };
}
