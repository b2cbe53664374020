/** The model: what the specification expects of each request on a ledger. */
import type { JsonObject } from "../../../src/domain/json.js";
import type { Account } from "./accounts.js";
import { buildContext } from "./build-context.js";
import { allocationArguments, distinct } from "./choice-arguments.js";
import { choiceContexts, type ContextRow, type InstructionChoice } from "./contexts.js";
import type { Holder } from "./entries.js";
import { type Expected, failed } from "./expected.js";
import { answerWithFactory, type Situation, unservedFailures, withArguments } from "./factories.js";
import { findInstruction, lockedHoldings } from "./instructions.js";
import { groupOf, type Ledger } from "./ledger.js";
import { allConfigurations, findOperator, instrumentConfiguration, listInstruments, supportedApis } from "./lists.js";
import type { IssuanceOperation, Request } from "./requests.js";
import type { Settings } from "./settings.js";
import { settlementFactory } from "./settlements.js";
import { transferFactory } from "./transfers.js";

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
