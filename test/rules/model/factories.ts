/** The factories: what they have in common, transfers, settlements. */
import type { JsonObject } from "../../../src/domain/json.js";
import { findInstruction, type Instruction, lockedHoldings } from "./instructions.js";
import {
  type Account,
  BadRequest,
  distinct,
  settledInstruments,
  type Settlement,
  settlementArguments,
  type Transfer,
  transferArguments,
} from "./arguments.js";
import { buildContext, type Disclosure, type EntryInputs, type Holder } from "./context.js";
import {
  configurationsOf,
  contractsOf,
  type Group,
  groupOf,
  isOlder,
  isSameGroup,
  type Ledger,
  type LedgerContract,
  ofGroup,
  readList,
  readText,
  registrarsContracts,
} from "./ledger.js";
import { type Expected, failed, type Failure, type Settings } from "./requests.js";
import { type ContextRow, type FactoryContext, factoryContexts } from "./table.js";

/** The state on which a request is answered. */
export interface Situation {
  readonly ledger: Ledger;
  readonly settings: Settings;
  readonly registrar: string;
}

export const allocationFactoriesOf = ({ ledger, registrar }: Situation): LedgerContract[] =>
  registrarsContracts(ledger, "AllocationFactory", registrar);

/** A registrar is served if it has an AllocationFactory. */
export function unservedFailures(situation: Situation): Failure[] {
  if (allocationFactoriesOf(situation).length > 0) return [];
  return [{ status: 404, mentions: [situation.registrar, "not served"] }];
}

/** Malformed arguments are 400, and an unserved registrar is 404. Where both hold, either is right. */
export function withArguments<T>(situation: Situation, parse: () => T, answer: (parsed: T) => Expected): Expected {
  const unserved = unservedFailures(situation);
  try {
    const parsed = parse();
    return unserved.length > 0 ? { kind: "failure", failures: unserved } : answer(parsed);
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    return { kind: "failure", failures: [{ status: 400, mentions: [] }, ...unserved] };
  }
}

/**
 * The group of a request that names no input holdings: that of the newest configuration of its instruments, else that of
 * the newest factory.
 */
export function groupOfRequest(situation: Situation, instruments: readonly string[]): Group | undefined {
  const [first = [], ...others] = instruments.map((instrument) =>
    configurationsOf(situation.ledger, situation.registrar, instrument).map(groupOf),
  );
  const ofAll = first.find((group) => others.every((groups) => groups.some((one) => isSameGroup(one, group))));
  const [factory] = allocationFactoriesOf(situation);
  return ofAll ?? first[0] ?? (factory === undefined ? undefined : groupOf(factory));
}

/** The factories of the group; those of version 2 alone, if that is asked for. Or why there are none. */
export function factoriesOf(
  situation: Situation,
  group: Group,
  isVersion2: boolean,
): { readonly factories: readonly LedgerContract[]; readonly refused: Failure | undefined } {
  const all = ofGroup(allocationFactoriesOf(situation), group);
  const factories = isVersion2 ? all.filter((one) => !isOlder(situation.settings, one, "0.9.0")) : all;
  if (factories.length > 0) return { factories, refused: undefined };
  return { factories, refused: { status: 404, mentions: all.length === 0 ? ["AllocationFactory"] : ["version 2"] } };
}

interface FactoryRequest {
  readonly operation: FactoryContext;
  readonly inputs: EntryInputs;
  /** Default: that of the instruments. */
  readonly group?: Group | undefined;
  readonly isVersion2: boolean;
  readonly disclosures?: readonly Disclosure[];
}

export function answerWithFactory(situation: Situation, request: FactoryRequest): Expected {
  const { operation, inputs, isVersion2, disclosures = [] } = request;
  const group = request.group ?? groupOfRequest(situation, inputs.instruments);
  if (group === undefined) return failed(404);
  const { factories, refused } = factoriesOf(situation, group, isVersion2);
  if (refused !== undefined) return { kind: "failure", failures: [refused] };
  return answerOn(situation, group, factories, operation, inputs, disclosures);
}

/** Answers on the synchronizer of the newest factory that shares it with the needed contracts. */
export function answerOn(
  { ledger, settings, registrar }: Situation,
  group: Group,
  factories: readonly LedgerContract[],
  operation: FactoryContext,
  inputs: EntryInputs,
  disclosures: readonly Disclosure[],
): Expected {
  const row: ContextRow = factoryContexts[operation];
  const failures: Failure[] = [];
  for (const synchronizer of distinct(factories.map(({ synchronizerId }) => synchronizerId))) {
    const factory = factories.find(({ synchronizerId }) => synchronizerId === synchronizer);
    if (synchronizer === undefined || factory === undefined) continue;
    const { contractId } = factory;
    const { context, missing, blocked } = buildContext(
      { ledger, settings, registrar, group, synchronizer },
      { ...row, entries: entriesFor(operation, inputs) },
      factory,
      inputs,
      [{ contractId, candidates: [factory], isRequired: true }, ...disclosures],
    );
    failures.push(...missing, ...blocked);
    // A blocklist is no reason to answer from another synchronizer.
    if (missing.length === 0 && blocked.length > 0) return { kind: "failure", failures };
    if (missing.length === 0) return { kind: "context", context, factoryId: contractId };
  }
  return failures.length === 0 ? failed(409) : { kind: "failure", failures };
}

/** An allocation of several instruments has their configurations in a map. */
function entriesFor(operation: FactoryContext, { instruments }: EntryInputs): ContextRow["entries"] {
  const { entries } = factoryContexts[operation];
  if (operation !== "allocation-factory" || instruments.length < 2) return entries;
  return entries.map((entry) => (entry === "instrument-configuration" ? "instrument-configurations" : entry));
}

export function transferFactory(situation: Situation, choice: JsonObject, isVersion2: boolean): Expected {
  const { registrar } = situation;
  return withArguments(
    situation,
    () => transferArguments(registrar, choice),
    (transfer) => {
      const instruments = [transfer.instrument];
      const inputs = {
        instruments,
        sender: { account: transfer.sender, instruments },
        receiver: { account: transfer.receiver, instruments },
      };
      const group = groupOfRequest(situation, instruments);
      if (group === undefined) return failed(404);
      const { refused } = factoriesOf(situation, group, isVersion2);
      if (refused !== undefined) return { kind: "failure", failures: [refused] };
      const receiver = partyOf(situation, transfer.receiver);
      const isSelf = partyOf(situation, transfer.sender) === receiver;
      const preapprovals = isSelf ? [] : countingPreapprovals(situation, group, transfer, receiver, isVersion2);
      // Each is a factory: the newest wins that shares a synchronizer with the needed contracts.
      if (preapprovals.length > 0)
        return {
          ...answerOn(situation, group, preapprovals, "transfer-factory/direct", inputs, []),
          transferKind: "direct",
        };
      const transferKind = isSelf ? "self" : "offer";
      const operation = `transfer-factory/${transferKind}` as const;
      return { ...answerWithFactory(situation, { operation, inputs, isVersion2 }), transferKind };
    },
  );
}

/** A special account stands for the instrument's admin. */
const partyOf = ({ registrar }: Situation, { party }: Account): string => party ?? registrar;

/** The preapprovals of the receiver that count, the newest first. */
function countingPreapprovals(
  { ledger, registrar, settings }: Situation,
  group: Group,
  { instrument }: Transfer,
  receiver: string,
  isVersion2: boolean,
): LedgerContract[] {
  return contractsOf(ledger, "TransferPreapproval").filter((preapproval) => {
    const { payload, synchronizerId } = preapproval;
    const allowances = readList(payload, "instrumentAllowances").map((allowance) => readText(allowance, "id"));
    const isHere = (candidates: readonly LedgerContract[]): boolean =>
      ofGroup(candidates, group).some((candidate) => candidate.synchronizerId === synchronizerId);
    return (
      readText(payload, "receiver") === receiver &&
      readText(payload, "instrumentAdmin") === registrar &&
      synchronizerId !== undefined &&
      readText(payload, "operator") === group.operator &&
      (allowances.length === 0 || allowances.includes(instrument)) &&
      !(isVersion2 && isOlder(settings, preapproval, "0.9.0")) &&
      isHere(configurationsOf(ledger, registrar, instrument)) &&
      isHere(registrarsContracts(ledger, "TransferRule", registrar))
    );
  });
}

export function settlementFactory(situation: Situation, choice: JsonObject): Expected {
  const { ledger, settings, registrar } = situation;
  return withArguments(
    situation,
    () => settlementArguments(choice, settings.limits),
    (settlement) => {
      const allocations = new Map<string, Instruction>();
      const refused: string[] = [];
      for (const { contractId } of settlement.allocations) {
        const allocation = findInstruction(ledger, "DvpLegAllocation", contractId, undefined);
        if (allocation?.registrar === registrar) allocations.set(contractId, allocation);
        // One that was never seen may be created in the same transaction.
        else if (allocation !== undefined || settings.rejectsUnknown) refused.push(contractId);
      }
      const found = [...allocations.values()];
      const [group, ...others] = found.map(({ contract }) => groupOf(contract));
      if (group !== undefined && others.some((other) => !isSameGroup(other, group))) {
        const failures = [{ status: 400, mentions: ["cannot be settled together"] } as const];
        return { kind: "failure", failures };
      }
      const inputs = {
        instruments: settledInstruments(settlement),
        holders: settlementHolders(settlement, allocations),
      };
      const answer = answerWithFactory(situation, {
        operation: "settlement-factory",
        inputs,
        group,
        isVersion2: true,
        disclosures: [
          ...found.map(({ contract }) => ({
            contractId: contract.contractId,
            candidates: [contract],
            isRequired: true,
          })),
          ...found.flatMap((allocation) => lockedHoldings(ledger, allocation)),
        ],
      });
      if (refused.length === 0) return answer;
      const more = answer.kind === "failure" ? answer.failures.filter(({ status }) => status === 404) : [];
      return { kind: "failure", failures: [{ status: 404, mentions: refused }, ...more] };
    },
  );
}

/**
 * Each party with the instruments that it sends or receives: in the legs, as the other side of an extra side, and as
 * the sender of an allocation with extra sides or funding.
 */
function settlementHolders({ legs, allocations }: Settlement, contracts: ReadonlyMap<string, Instruction>): Holder[] {
  const needs: { account: Account | undefined; instrument: string }[] = [];
  for (const { sender, receiver, instrument } of legs)
    needs.push({ account: sender, instrument }, { account: receiver, instrument });
  for (const { contractId, extraSides, funded } of allocations) {
    const account = contracts.get(contractId)?.sender;
    for (const { otherside, instrument } of extraSides)
      needs.push({ account: otherside, instrument }, { account, instrument });
    for (const instrument of funded) needs.push({ account, instrument });
  }
  return distinct(needs.flatMap(({ account }) => account?.party ?? [])).map((party) => {
    const own = needs.filter(({ account }) => account?.party === party);
    return {
      account: { party, named: [], key: party },
      instruments: distinct(own.map(({ instrument }) => instrument)),
    };
  });
}
