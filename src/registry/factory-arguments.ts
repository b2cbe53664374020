/** The arguments of the factories' choices, in versions 1 and 2 of the token standard. */
import { z } from "zod";
import { invalidField } from "../domain/errors.js";
import { isObject, valueAt } from "../util/json.js";
import { type Account, accountForm, accountIn, accountOf } from "./account.js";
import { nonEmpty, mapKeys, readFields } from "./fields.js";
import type { FactoryQuery } from "./sdk/registry.js";

/** What a factory request may say besides what its choice is about. */
interface FactoryArguments {
  /** Contract ids of the holdings that are spent; empty while a client has not chosen them. */
  readonly inputHoldings: readonly string[];
  /** The synchronizer on which the wallet will submit; undefined if it does not say. */
  readonly targetSynchronizer: string | undefined;
}

export interface TransferArguments extends FactoryArguments {
  readonly sender: Account;
  readonly receiver: Account;
  readonly instrumentId: string;
}

export interface AllocationArguments extends FactoryArguments {
  /** The sender of the leg in version 1, the authorizer in version 2. */
  readonly sender: Account;
  /** Every instrument, each once. Empty for a committed allocation whose legs are given later. */
  readonly instruments: readonly string[];
  readonly sent: readonly string[];
  readonly sides: number;
  /** The accounts on the other sides of its legs, where the request names them. Reading them may throw "invalid". */
  readonly others: () => readonly Account[];
  /** As `others`. */
  readonly executors: () => readonly string[];
}

export interface SettlementArguments {
  readonly targetSynchronizer: string | undefined;
  readonly legs: readonly Leg[];
  /** The allocations to settle, each contract id once. */
  readonly allocations: readonly SettledAllocation[];
  /** Reading them may throw "invalid". */
  readonly executors: () => readonly string[];
}

type Leg = Omit<TransferArguments, keyof FactoryArguments>;

interface SettledAllocation {
  readonly contractId: string;
  /** Sides of legs that the allocation itself does not have. */
  readonly extraSides: readonly { readonly otherSide: Account; readonly instrumentId: string }[];
  /** Instruments of which the allocation funds the next iteration. */
  readonly nextIterationFunding: readonly string[];
}

const anything = z.unknown().optional();
const instrument = z.object({ admin: nonEmpty, id: nonEmpty });

/** What the arguments of every factory may have. */
const common = {
  expectedAdmin: nonEmpty.nullish(),
  /** A field of wallets, which no choice has. Empty: none. */
  _targetSynchronizerId: z.string().nullish(),
};

const transferForm = z.object({
  ...common,
  transfer: z.object({
    instrumentId: instrument,
    sender: anything,
    receiver: anything,
    meta: anything,
    inputHoldingCids: anything,
  }),
});

const allocationV1Form = z.object({
  ...common,
  inputHoldingCids: anything,
  allocation: z.object({
    transferLeg: z.object({ instrumentId: instrument, sender: anything, receiver: anything, meta: anything }),
    settlement: anything,
  }),
});

const side = z.object({ instrumentId: nonEmpty, side: z.enum(["SenderSide", "ReceiverSide"]), otherside: anything });
const allocationV2Form = z.object({
  ...common,
  inputHoldingCids: anything,
  allocation: z.object({
    admin: nonEmpty,
    transferLegSides: z.array(side),
    authorizer: accountForm,
    nextIterationFunding: mapKeys,
  }),
  settlement: anything,
});

const settlementForm = z.object({
  ...common,
  transferLegs: z.array(z.object({ sender: accountForm, receiver: accountForm, instrumentId: nonEmpty })),
  allocations: z.array(
    z.object({
      allocationCid: nonEmpty,
      extraTransferLegSides: z.array(z.object({ otherside: accountForm, instrumentId: nonEmpty })).nullish(),
      nextIterationFunding: mapKeys,
    }),
  ),
  settlement: anything,
});

/** The arguments with their path. Throws "invalid" for another registrar than that of the request. */
function read<T extends z.output<z.ZodObject<typeof common>>>(
  { registrar, choiceArguments, argumentsName: path = "choiceArguments" }: FactoryQuery,
  form: z.ZodType<T>,
) {
  const fields = readFields(form, choiceArguments, path);
  requireRegistrar(registrar, fields.expectedAdmin ?? registrar, `${path}.expectedAdmin`);
  return { fields, path, targetSynchronizer: fields._targetSynchronizerId || undefined };
}

export function transferArguments(query: FactoryQuery): TransferArguments {
  const { registrar } = query;
  const { fields, path, targetSynchronizer } = read(query, transferForm);
  const { transfer } = fields;
  const at = `${path}.transfer`;
  requireRegistrar(registrar, transfer.instrumentId.admin, `${at}.instrumentId.admin`);
  return {
    sender: accountIn(transfer, "sender", registrar, at),
    receiver: accountIn(transfer, "receiver", registrar, at),
    instrumentId: transfer.instrumentId.id,
    inputHoldings: idsIn(transfer.inputHoldingCids),
    targetSynchronizer,
  };
}

export function allocationArguments(query: FactoryQuery): AllocationArguments {
  const allocation = query.choiceArguments["allocation"];
  if (valueAt(allocation, "transferLegSides") != null) return allocationOfSides(query);
  if (isObject(allocation) && valueAt(allocation, "transferLeg") == null) {
    const expected = "transferLeg (version 1) or transferLegSides (version 2)";
    const { argumentsName: path = "choiceArguments" } = query;
    throw invalidField(`${path}.allocation.transferLeg`, `is missing: an allocation needs ${expected}`);
  }
  return allocationOfLeg(query);
}

/** Of version 1. */
function allocationOfLeg(query: FactoryQuery): AllocationArguments {
  const { registrar } = query;
  const { fields, path, targetSynchronizer } = read(query, allocationV1Form);
  const { transferLeg: leg, settlement } = fields.allocation;
  const at = `${path}.allocation.transferLeg`;
  requireRegistrar(registrar, leg.instrumentId.admin, `${at}.instrumentId.admin`);
  const instruments = [leg.instrumentId.id];
  return {
    sender: accountIn(leg, "sender", registrar, at),
    others: () => (leg.receiver == null ? [] : [accountIn(leg, "receiver", registrar, at)]),
    executors: () => executorsIn(settlement, `${path}.allocation.settlement`),
    instruments,
    sent: instruments,
    sides: 1,
    inputHoldings: idsIn(fields.inputHoldingCids),
    targetSynchronizer,
  };
}

/** Of version 2. */
function allocationOfSides(query: FactoryQuery): AllocationArguments {
  const { registrar } = query;
  const { fields, path, targetSynchronizer } = read(query, allocationV2Form);
  const { admin, transferLegSides: sides, authorizer, nextIterationFunding: funded } = fields.allocation;
  const at = `${path}.allocation`;
  requireRegistrar(registrar, admin, `${at}.admin`);
  const sent = sides.filter((one) => one.side === "SenderSide").map(({ instrumentId }) => instrumentId);
  return {
    sender: accountOf(authorizer, registrar, `${at}.authorizer`),
    others: () =>
      sides.flatMap(({ otherside }, index) => {
        const name = `${at}.transferLegSides[${index}].otherside`;
        return otherside == null ? [] : accountOf(readFields(accountForm, otherside, name), registrar, name);
      }),
    executors: () => executorsIn(fields.settlement, `${path}.settlement`),
    instruments: [...new Set([...sides.map(({ instrumentId }) => instrumentId), ...funded])],
    sent: [...new Set([...sent, ...funded])],
    sides: sides.length,
    inputHoldings: idsIn(fields.inputHoldingCids),
    targetSynchronizer,
  };
}

export function settlementArguments(query: FactoryQuery): SettlementArguments {
  const { registrar } = query;
  const { fields, path, targetSynchronizer } = read(query, settlementForm);
  if (fields.transferLegs.length === 0)
    throw invalidField(`${path}.transferLegs`, "is empty: a settlement needs at least one leg");
  const legs = fields.transferLegs.map(({ sender, receiver, instrumentId }, index) => ({
    sender: accountOf(sender, registrar, `${path}.transferLegs[${index}].sender`),
    receiver: accountOf(receiver, registrar, `${path}.transferLegs[${index}].receiver`),
    instrumentId,
  }));
  const allocations = new Map<string, SettledAllocation>();
  for (const [index, one] of fields.allocations.entries()) {
    const { allocationCid: contractId, nextIterationFunding } = one;
    const at = `${path}.allocations[${index}].extraTransferLegSides`;
    const extraSides = (one.extraTransferLegSides ?? []).map(({ otherside, instrumentId }, position) => ({
      otherSide: accountOf(otherside, registrar, `${at}[${position}].otherside`),
      instrumentId,
    }));
    const before = allocations.get(contractId);
    allocations.set(contractId, {
      contractId,
      extraSides: [...(before?.extraSides ?? []), ...extraSides],
      nextIterationFunding: [...(before?.nextIterationFunding ?? []), ...nextIterationFunding],
    });
  }
  return {
    legs,
    allocations: [...allocations.values()],
    executors: () => executorsIn(fields.settlement, `${path}.settlement`),
    targetSynchronizer,
  };
}

const executorsForm = z.object({ executors: z.array(z.string()).nullish(), executor: anything }).nullish();

/** Of the settlement, in versions 1 and 2. */
function executorsIn(settlement: unknown, path: string): readonly string[] {
  const { executors, executor } = readFields(executorsForm, settlement, path) ?? {};
  if (executors != null) return executors;
  return executor == null ? [] : [readFields(nonEmpty, executor, `${path}.executor`)];
}

/** The contract ids in a list that may be absent. Requests for factories depend on them only if a registrar has several providers. */
const idsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string" && one !== "") : [];

/** The synchronizer on which the wallet will submit; undefined if it does not say. Throws "invalid" if it is no text. */
export function targetSynchronizerOf({ choiceArguments, argumentsName = "choiceArguments" }: FactoryQuery) {
  const { _targetSynchronizerId: given } = choiceArguments;
  return readFields(common._targetSynchronizerId, given, `${argumentsName}._targetSynchronizerId`) || undefined;
}

/** The instruments of the legs, then those that only an allocation names. */
export function distinctInstruments({ legs, allocations }: SettlementArguments): string[] {
  const instruments = new Set(legs.map(({ instrumentId }) => instrumentId));
  for (const { extraSides, nextIterationFunding } of allocations) {
    for (const { instrumentId } of extraSides) instruments.add(instrumentId);
    for (const instrumentId of nextIterationFunding) instruments.add(instrumentId);
  }
  return [...instruments];
}

function requireRegistrar(registrar: string, named: string, path: string): void {
  if (named !== registrar) throw invalidField(path, `is ${named}, but the registrar of the request is ${registrar}`);
}
