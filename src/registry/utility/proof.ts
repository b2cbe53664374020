/** Transfer proofs: whether a transfer with exactly these values happened in an update. */
import { z } from "zod";
import { parseDecimal } from "../../domain/decimal.js";
import { invalidField, refuse } from "../../domain/errors.js";
import { type JsonValue, valueAt, parseLedgerTime } from "../../util/json.js";
import { accountForm, accountOf, NO_OWNER } from "../account.js";
import { nonEmpty } from "../fields.js";
import type { Created, Exercised, History, Update } from "../sdk/lookup.js";
import type { ProofQuery, ProofStatus, TransferTerms } from "../sdk/registry.js";
import { allocationFactory, transferOffer, transferPreapproval, transferRule } from "./templates.js";

/** Each end needs a look-up. An update of more ends than this is too large for the ledger. */
const MAX_ENDS = 200;

const templates = [transferOffer, allocationFactory, transferPreapproval, transferRule];

/**
 * Throws RegistryError "invalid" if the transfer cannot be verified, whatever the cause, after the same wait. A mistyped
 * id must not read as a failed payment.
 */
export async function transferProof(history: History, { updateId, transfer }: ProofQuery): Promise<ProofStatus> {
  const asked = comparable(transfer);
  const status = await history.pollUntil(async () => {
    const update = await history.update({ updateId }, templates);
    return update && statusIn(update, asked, history);
  });
  if (status !== undefined) return status;
  // The same for every cause: a caller who does not know the transfer learns nothing.
  const message = "the transfer cannot be verified: check the update id and every value of the transfer";
  throw refuse("transfer-not-verified", message);
}

/** Where one update creates and ends an offer, the end counts. */
async function statusIn(update: Update, asked: ComparableTransfer, history: History): Promise<ProofStatus | undefined> {
  const ends = update.events.filter(isEnd);
  for (const end of ends.slice(0, MAX_ENDS)) {
    const status = statusOfEnd(end);
    if (status !== undefined && (await isEndOf(end, asked, update, history))) return status;
  }
  const ended = new Set<unknown>(ends.map(({ contractId }) => contractId));
  return carriedTransfers(update).find(({ transfer, offer }) => !ended.has(offer) && isSame(transfer, asked))?.status;
}

/** A transfer that an event of an update names. */
interface CarriedTransfer {
  readonly status: ProofStatus;
  readonly transfer: ComparableTransfer;
  /** Contract id of the offer that was created for it; undefined if none was. */
  readonly offer?: JsonValue | undefined;
}

/**
 * The transfers that an update offers or executes. Nonconsuming choices are not shown to the observers of a contract, so
 * each transfer is carried by several events, and parties see different ones. An accept executes the offer's transfer,
 * which names the locked holding.
 */
const carriedTransfers = ({ events }: Update): readonly CarriedTransfer[] =>
  events.flatMap((event) => (event.does === "create" ? offered(event) : carriedByChoice(event)) ?? []);

function offered({ template, contractId, payload }: Created): CarriedTransfer | undefined {
  const transfer = template === transferOffer ? transferIn(payload) : undefined;
  return transfer && { status: "Pending", transfer, offer: contractId };
}

function carriedByChoice({ template, choice, argument, result }: Exercised): CarriedTransfer | undefined {
  switch (choice) {
    // Shown to provider and registrar on the factory, and to the receiver on a preapproval.
    case "TransferFactory_Transfer":
      return template === allocationFactory || template === transferPreapproval
        ? carriedByFactory(transferIn(argument), result)
        : undefined;
    // Shown to the operator too.
    case "AllocationFactory_TransferInternal":
      return template === allocationFactory
        ? carriedByFactory(transferIn(valueAt(argument, "payload")), result)
        : undefined;
    case "TransferRule_DirectTransfer":
    case "TransferRule_TwoStepTransfer":
    // Both, before Registry App 0.12.
    case "TransferRule_Transfer": {
      const transfer = template === transferRule ? transferIn(argument) : undefined;
      return transfer && { status: "Success", transfer };
    }
    default:
      return undefined;
  }
}

function carriedByFactory(transfer: ComparableTransfer | undefined, result: JsonValue): CarriedTransfer | undefined {
  const output = valueAt(result, "output");
  const status = statusOfOutput(output);
  if (transfer === undefined || status === undefined) return undefined;
  return { status, transfer, offer: valueAt(valueAt(output, "value"), "transferInstructionCid") };
}

const isEnd = (event: Created | Exercised): event is Exercised =>
  event.does === "exercise" && event.template === transferOffer && event.consuming;

const statusByEnd: ReadonlyMap<string, ProofStatus> = new Map([
  ["TransferInstruction_Accept", "Success"],
  ["TransferInstruction_Reject", "Failure"],
  ["TransferInstruction_Withdraw", "Failure"],
]);

/** Undefined for a choice that only archives: it says nothing about the transfer. */
const statusOfEnd = ({ choice, result }: Exercised): ProofStatus | undefined =>
  statusOfOutput(valueAt(result, "output")) ?? statusByEnd.get(choice);

/**
 * Whether the choice ended the offer of this transfer. The inputs may be the offer's, its locked holding, or the
 * payer's, which only the update that created the offer names.
 */
async function isEndOf(
  { contractId }: Exercised,
  asked: ComparableTransfer,
  update: Update,
  history: History,
): Promise<boolean> {
  const createdHere = update.events.find(
    (event): event is Created => event.does === "create" && event.contractId === contractId,
  );
  const offer = createdHere ?? (await history.creation(contractId, templates));
  const transfer = offer && transferIn(offer.payload);
  if (offer === undefined || transfer?.values !== asked.values) return false;
  if (isSame(transfer, asked)) return true;
  const origin = createdHere === undefined ? await history.update({ offset: offer.offset }, templates) : update;
  return (
    origin !== undefined &&
    carriedTransfers(origin).some((one) => one.offer === contractId && isSame(one.transfer, asked))
  );
}

const statusByTag: ReadonlyMap<JsonValue | undefined, ProofStatus> = new Map([
  ["TransferInstructionResult_Completed", "Success"],
  ["TransferInstructionResult_Pending", "Pending"],
  ["TransferInstructionResult_Failed", "Failure"],
]);

const statusOfOutput = (output: JsonValue | undefined): ProofStatus | undefined =>
  statusByTag.get(valueAt(output, "tag"));

/** A transfer in a form in which equal ones are equal text. */
export interface ComparableTransfer {
  /** All fields but the input holdings: those differ between the payer's transfer and the offer's. */
  readonly values: string;
  readonly inputs: string;
}

export const isSame = (a: ComparableTransfer, b: ComparableTransfer): boolean =>
  a.values === b.values && a.inputs === b.inputs;

/** Throws RegistryError "invalid" with the name of a malformed field. */
export function comparable(transfer: TransferTerms): ComparableTransfer {
  const { sender, receiver, instrumentId, requestedAt, executeBefore, inputHoldingCids, meta } = transfer;
  const amount = parseDecimal(transfer.amount);
  if (amount === undefined) throw invalidField("transfer.amount", "must be a decimal such as 1.0000000000");
  const times = [readTime("requestedAt", requestedAt), readTime("executeBefore", executeBefore)];
  const entries = Object.entries(meta).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    values: JSON.stringify([sender, receiver, String(amount), instrumentId.admin, instrumentId.id, times, entries]),
    inputs: JSON.stringify(inputHoldingCids),
  };
}

const transferForm = z.object({
  transfer: z.object({
    sender: z.union([nonEmpty, accountForm]),
    receiver: z.union([nonEmpty, accountForm]),
    amount: z.string(),
    instrumentId: z.object({ admin: nonEmpty, id: nonEmpty }),
    requestedAt: z.string(),
    executeBefore: z.string(),
    inputHoldingCids: z.array(z.string()),
    meta: z.object({ values: z.record(z.string(), z.string()).nullish() }).nullish(),
  }),
});

/**
 * The field `transfer` of a payload or a choice's argument, of version 1 or 2 of the standard. Undefined if it is missing
 * or malformed: then it equals no transfer.
 */
export function transferIn(value: JsonValue | undefined): ComparableTransfer | undefined {
  const { data } = transferForm.safeParse(value);
  if (data === undefined) return undefined;
  const { sender, receiver, instrumentId, meta, ...others } = data.transfer;
  // As version 1 of the standard names the party of an account.
  const partyOf = (given: typeof sender): string => {
    if (typeof given === "string") return given;
    const { party, isSpecial } = accountOf(given, instrumentId.admin, "");
    return isSpecial ? NO_OWNER : party;
  };
  try {
    const [from, to] = [partyOf(sender), partyOf(receiver)];
    return comparable({ ...others, sender: from, receiver: to, instrumentId, meta: meta?.values ?? {} });
  } catch {
    return undefined;
  }
}

function readTime(name: string, text: string): number {
  try {
    // Callers may write UTC in another form than the ledger.
    return parseLedgerTime(text.toUpperCase().replace(/[+-]00:00$/, "Z"));
  } catch {
    throw invalidField(`transfer.${name}`, "must be a time such as 2026-01-31T12:00:00.123456Z");
  }
}
