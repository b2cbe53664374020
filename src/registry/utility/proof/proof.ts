import type { JsonValue } from "../../../domain/json.js";
import { invalidField } from "../../../domain/errors.js";
import type { Created, Exercised, History, Update } from "../../sdk/history.js";
import type { ProofQuery, ProofStatus } from "../../sdk/registry.js";
import { transferOffer } from "../templates/instructions.js";
import { transferPreapproval } from "../templates/parties.js";
import { allocationFactory } from "../templates/services.js";
import { type Terms, termsIn, termsOf } from "./terms.js";

const templates = [transferOffer, allocationFactory, transferPreapproval];

const TRANSFER = "TransferFactory_Transfer";

/** Unknown updates and updates without this transfer are "Failure" after equal polling: strangers learn nothing. */
export async function transferProof(history: History, { updateId, transfer }: ProofQuery): Promise<ProofStatus> {
  const expected = readExpected(transfer);
  const found = await history.pollUntil(async () => {
    const update = await history.update({ updateId }, templates);
    if (update === undefined) return undefined;
    // If an update both creates an offer and ends it, the end is the outcome.
    return (
      (await outcomeOfStep(update, expected, history)) ??
      outcomeOfFactory(update, expected) ??
      outcomeOfOffer(update, expected)
    );
  });
  return found ?? "Failure";
}

/** The outcome of the choice that ended an offer: accept, reject or withdraw. */
async function outcomeOfStep(update: Update, expected: Terms, history: History): Promise<ProofStatus | undefined> {
  for (const event of update.events) {
    if (!isStep(event)) continue;
    const offer =
      update.events.find(isCreationOf(event.contractId)) ?? (await history.creation(event.contractId, templates));
    if (offer === undefined || !(await isOfferOf(offer, expected, history))) continue;
    return outcome(event.result) ?? (event.choice.endsWith("_Accept") ? "Success" : "Failure");
  }
  return undefined;
}

/** The outcome of the factory's choice. With `offerId`, only the choice that created that offer counts. */
function outcomeOfFactory(update: Update, expected: Terms, offerId?: string): ProofStatus | undefined {
  for (const event of update.events) {
    if (event.does !== "exercise" || event.choice !== TRANSFER) continue;
    if (offerId !== undefined && createdOffer(event.result) !== offerId) continue;
    const status = isSame(termsIn(event.argument), expected) ? outcome(event.result) : undefined;
    if (status !== undefined) return status;
  }
  return undefined;
}

function outcomeOfOffer(update: Update, expected: Terms): ProofStatus | undefined {
  const offers = update.events.filter(isOffer);
  return offers.some(({ payload }) => isSame(termsIn(payload), expected)) ? "Pending" : undefined;
}

/** An offer names the holding it locked; the sender's inputs are in the choice of the update that created the offer. */
async function isOfferOf(offer: Created, expected: Terms, history: History): Promise<boolean> {
  const terms = termsIn(offer.payload);
  if (terms === undefined || terms.agreed !== expected.agreed) return false;
  if (isSame(terms, expected)) return true;
  const origin = await history.update({ offset: offer.offset }, templates);
  return origin !== undefined && outcomeOfFactory(origin, expected, offer.contractId) !== undefined;
}

const isSame = (terms: Terms | undefined, expected: Terms): boolean =>
  terms?.agreed === expected.agreed && terms.inputHoldingCids === expected.inputHoldingCids;

const isStep = (event: Created | Exercised): event is Exercised =>
  event.does === "exercise" && event.template === transferOffer && event.consuming;

const isCreationOf =
  (contractId: string) =>
  (event: Created | Exercised): event is Created =>
    event.does === "create" && event.contractId === contractId;

const isOffer = (event: Created | Exercised): event is Created =>
  event.does === "create" && event.template === transferOffer;

const outcomes: Readonly<Record<string, ProofStatus>> = {
  TransferInstructionResult_Completed: "Success",
  TransferInstructionResult_Pending: "Pending",
  TransferInstructionResult_Failed: "Failure",
};

function outcome(result: JsonValue): ProofStatus | undefined {
  const tag = property(property(result, "output"), "tag");
  return typeof tag === "string" ? outcomes[tag] : undefined;
}

const createdOffer = (result: JsonValue): JsonValue | undefined =>
  property(property(property(result, "output"), "value"), "transferInstructionCid");

function property(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value[name] : undefined;
}

function readExpected(transfer: ProofQuery["transfer"]): Terms {
  try {
    return termsOf(transfer);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const format =
      error.message === "amount" ? "a decimal such as 1.0000000000" : "a time such as 2026-01-31T12:00:00.123456Z";
    throw invalidField(`transfer.${error.message}`, `must be ${format}`);
  }
}
