/** What a wallet does: holdings, offers, and accepting one with the answer of the token's registry. */
import { setTimeout as pause } from "node:timers/promises";
import { type Json, type JsonObject, LedgerError, listOf, objectOf, type Participant, textOf } from "./participant.js";

const HOLDING = "#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding";
const INSTRUCTION =
  "#splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferInstruction";

export interface OfInstrument {
  readonly issuer: string;
  readonly instrument: string;
}

/** What the party holds of the instrument, locked or not, in units of 10 decimals. */
export async function heldBy(participant: Participant, party: string, of: OfInstrument): Promise<bigint> {
  const holdings = await participant.active(party, HOLDING, "InterfaceFilter");
  let sum = 0n;
  for (const { views } of holdings) {
    const [view = {}] = Object.values(views);
    if (view["owner"] === party && isOf(view["instrumentId"], of)) sum += unitsOf(textOf(view["amount"]));
  }
  return sum;
}

/** The offers to the party that wait, as `as` sees them. */
export async function pendingFor(
  participant: Participant,
  party: string,
  of: OfInstrument,
  as: string,
): Promise<string[]> {
  const instructions = await participant.active(as, INSTRUCTION, "InterfaceFilter");
  return instructions.flatMap(({ contractId, views }) => {
    const [view = {}] = Object.values(views);
    const { receiver, instrumentId } = objectOf(view["transfer"]);
    return receiver === party && isOf(instrumentId, of) ? [contractId] : [];
  });
}

/** Accepts as the receiver, with the choice context of the registry. */
export async function acceptOffer(
  participant: Participant,
  receiver: string,
  contractId: string,
  issuer: string,
  registryUrl: string,
  synchronizerId: string,
): Promise<void> {
  const path = `/api/token-standard/v0/registrars/${issuer}/registry/transfer-instruction/v1/${contractId}/choice-contexts/accept`;
  const { choiceContextData, disclosedContracts } = await ask(registryUrl, path);
  await participant.submit(
    [receiver],
    [
      {
        templateId: INSTRUCTION,
        contractId,
        choice: "TransferInstruction_Accept",
        argument: { extraArgs: { context: objectOf(choiceContextData), meta: { values: {} } } },
      },
    ],
    synchronizerId,
    listOf(disclosedContracts).map(objectOf),
  );
}

/** A service that was started a moment ago has to read the ledger first. */
const WAIT_MS = 60_000;
const PAUSE_MS = 1_000;

/** Asks until there is an answer. */
async function ask(registryUrl: string, path: string): Promise<JsonObject> {
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(new Error(`no answer within ${WAIT_MS / 1_000} s`)), WAIT_MS);
  let last = "";
  try {
    for (;;) {
      const answer = await post(registryUrl + path, end.signal);
      if (typeof answer !== "string") return answer;
      if (end.signal.aborted) break;
      last = answer;
      await pause(PAUSE_MS, undefined, { signal: end.signal }).catch(() => undefined);
    }
  } finally {
    clearTimeout(timer);
  }
  throw new LedgerError(`the registry at ${registryUrl} does not answer as it should: ${last}`, undefined, undefined);
}

/** Returns the answer, or why there is none. */
async function post(url: string, signal: AbortSignal): Promise<JsonObject | string> {
  try {
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body: "{}", signal });
    const text = await response.text();
    return response.ok ? objectOf(JSON.parse(text) as Json) : `${response.status} ${text.slice(0, 300)}`;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return `it cannot be reached: ${String(cause)}`;
  }
}

const isOf = (instrumentId: Json | undefined, { issuer, instrument }: OfInstrument): boolean => {
  const { admin, id } = objectOf(instrumentId);
  return admin === issuer && id === instrument;
};

const DECIMALS = 10;
function unitsOf(amount: string): bigint {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole) * 10n ** BigInt(DECIMALS) + BigInt(fraction.padEnd(DECIMALS, "0").slice(0, DECIMALS) || "0");
}
