/** Transfer proofs: whether a transfer with exactly these values happened in an update. */
import type { JsonValue } from "../../../domain/json.js";
import { invalid } from "../../../domain/errors.js";
import type { Created, Exercised, History, Update } from "../../sdk/history.js";
import type { ProofQuery, ProofStatus } from "../../sdk/registry.js";
import { transferOffer } from "../templates/instructions.js";
import { transferPreapproval } from "../templates/parties.js";
import { allocationFactory, transferRule } from "../templates/services.js";
import { comparable, type ComparableTransfer, isSame, transferIn } from "./comparable-transfer.js";

/** Each end needs a look-up. An update of more ends than this is too large for the ledger. */
const MAX_ENDS = 200;

const templates = [transferOffer, allocationFactory, transferPreapproval, transferRule];

/** The same for every cause: a caller who does not know the transfer learns nothing. */
const notVerified = () =>
  invalid("the transfer cannot be verified: check the update id and every value of the transfer", {
    code: "transfer-not-verified",
  });

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
  if (status === undefined) throw notVerified();
  return status;
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
        ? carriedByFactory(transferIn(property(argument, "payload")), result)
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
  const output = property(result, "output");
  const status = statusOfOutput(output);
  if (transfer === undefined || status === undefined) return undefined;
  return { status, transfer, offer: property(property(output, "value"), "transferInstructionCid") };
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
  statusOfOutput(property(result, "output")) ?? statusByEnd.get(choice);

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
  statusByTag.get(property(output, "tag"));

function property(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value[name] : undefined;
}
