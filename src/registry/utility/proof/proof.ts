import type { JsonValue } from "../../../domain/json.js";
import { invalid } from "../../../domain/errors.js";
import type { Created, Exercised, History, Update } from "../../sdk/history.js";
import type { ProofQuery, ProofStatus } from "../../sdk/registry.js";
import { transferOffer } from "../templates/instructions.js";
import { transferPreapproval } from "../templates/parties.js";
import { allocationFactory } from "../templates/services.js";
import { type Terms, termsIn, termsOf } from "./terms.js";

/** The contracts on which a transfer happens. */
const templates = [transferOffer, allocationFactory, transferPreapproval];

const TRANSFER = "TransferFactory_Transfer";

/**
 * What became of a transfer in an update. Who does not know the transfer learns
 * nothing of it: an update that is not there, one that holds another transfer and
 * one that holds none are failures alike, and take equally long to tell.
 */
export async function transferProof(history: History, { updateId, transfer }: ProofQuery): Promise<ProofStatus> {
  const asked = askedTerms(transfer);
  const found = await history.pollUntil(async () => {
    const update = await history.update({ updateId }, templates);
    if (update === undefined) return undefined;
    // A step behind the offer tells more than the offer, where one update holds both.
    return (await byStep(update, asked, history)) ?? byFactory(update, asked) ?? byOffer(update, asked);
  });
  return found ?? "Failure";
}

/** By the choice that ended an offer: accepted, rejected, withdrawn. */
async function byStep(update: Update, asked: Terms, history: History): Promise<ProofStatus | undefined> {
  for (const event of update.events) {
    if (!isStep(event)) continue;
    const offer =
      update.events.find(isCreationOf(event.contractId)) ?? (await history.creation(event.contractId, templates));
    if (offer === undefined || !(await isOf(offer, asked, history))) continue;
    return outcome(event.result) ?? (event.choice.endsWith("_Accept") ? "Success" : "Failure");
  }
  return undefined;
}

/** By the factory's own choice: the transfer at once, or the making of an offer, where it matters of which. */
function byFactory(update: Update, asked: Terms, offerId?: string): ProofStatus | undefined {
  for (const event of update.events) {
    if (event.does !== "exercise" || event.choice !== TRANSFER) continue;
    if (offerId !== undefined && madeBy(event.result) !== offerId) continue;
    const status = isSame(termsIn(event.argument), asked) ? outcome(event.result) : undefined;
    if (status !== undefined) return status;
  }
  return undefined;
}

function byOffer(update: Update, asked: Terms): ProofStatus | undefined {
  const offers = update.events.filter(isOffer);
  return offers.some(({ payload }) => isSame(termsIn(payload), asked)) ? "Pending" : undefined;
}

/**
 * Whether an offer is of the transfer. It names the holding that it locked; the
 * ones that the sender named stand in the arguments of the update that made it.
 */
async function isOf(offer: Created, asked: Terms, history: History): Promise<boolean> {
  const terms = termsIn(offer.payload);
  if (terms === undefined || terms.agreed !== asked.agreed) return false;
  if (isSame(terms, asked)) return true;
  const origin = await history.update({ offset: offer.offset }, templates);
  return origin !== undefined && byFactory(origin, asked, offer.contractId) !== undefined;
}

const isSame = (terms: Terms | undefined, asked: Terms): boolean =>
  terms?.agreed === asked.agreed && terms.inputHoldingCids === asked.inputHoldingCids;

const isStep = (event: Created | Exercised): event is Exercised =>
  event.does === "exercise" && event.template === transferOffer && event.consuming;

const isCreationOf =
  (contractId: string) =>
  (event: Created | Exercised): event is Created =>
    event.does === "create" && event.contractId === contractId;

const isOffer = (event: Created | Exercised): event is Created =>
  event.does === "create" && event.template === transferOffer;

/** The outcomes of the standard's TransferInstructionResult, by their tags. */
const outcomes: Readonly<Record<string, ProofStatus>> = {
  TransferInstructionResult_Completed: "Success",
  TransferInstructionResult_Pending: "Pending",
  TransferInstructionResult_Failed: "Failure",
};

/** Undefined where the result is of another form. */
function outcome(result: JsonValue): ProofStatus | undefined {
  const tag = at(at(result, "output"), "tag");
  return typeof tag === "string" ? outcomes[tag] : undefined;
}

/** The contract id of the offer that a result tells of. */
const madeBy = (result: JsonValue): JsonValue | undefined =>
  at(at(at(result, "output"), "value"), "transferInstructionCid");

function at(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value[name] : undefined;
}

function askedTerms(transfer: ProofQuery["transfer"]): Terms {
  try {
    return termsOf(transfer);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const expected =
      error.message === "amount" ? "a decimal such as 1.0000000000" : "a time such as 2026-01-31T12:00:00.123456Z";
    throw invalid(`transfer.${error.message} has to be ${expected}`);
  }
}
