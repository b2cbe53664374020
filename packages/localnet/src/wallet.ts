/** What wallets do: holdings, offers, and choices with the answers of the token's registry. */
import { setTimeout as pause } from "node:timers/promises";
import { causeOf } from "./access.js";
import { SetUpError } from "./error.js";
import type { Actor, Token } from "./localnet.js";
import {
  type Created,
  type Json,
  type JsonObject,
  LedgerError,
  listOf,
  objectOf,
  type Participant,
  textOf,
  type Transaction,
} from "./participant.js";
import type { Mint } from "./token.js";

const HOLDING = "#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding";
const TRANSFERS = "#splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1";
const INSTRUCTION = `${TRANSFERS}:TransferInstruction`;
const FACTORY = `${TRANSFERS}:TransferFactory`;

const DAY_MS = 24 * 3_600_000;
/** A transfer takes at most so many holdings. */
const MAX_INPUTS = 100;

export interface Holding {
  readonly contractId: string;
  readonly templateId: string;
  readonly admin: string;
  readonly instrument: string;
  readonly amount: string;
  /** What is locked waits for a transfer or an allocation. */
  readonly isLocked: boolean;
}

/** What the party owns, of any token. */
export async function holdingsOf({ participant, party }: Actor): Promise<readonly Holding[]> {
  const active = await participant.active(party, HOLDING, "InterfaceFilter");
  return active.flatMap(({ contractId, templateId, views }) => {
    const [view = {}] = Object.values(views);
    const { admin, id } = objectOf(view["instrumentId"]);
    if (view["owner"] !== party) return [];
    const isLocked = view["lock"] !== null && view["lock"] !== undefined;
    const amount = textOf(view["amount"]);
    return [{ contractId, templateId, admin: textOf(admin), instrument: textOf(id), amount, isLocked }];
  });
}

export interface Offer {
  readonly contractId: string;
  readonly admin: string;
  readonly instrument: string;
  readonly amount: string;
  readonly sender: string;
  readonly receiver: string;
  /** In ISO 8601. */
  readonly executeBefore: string;
}

/** The offers that wait for a receiver, as a party sees them. */
export async function offersTo(receiver: string, participant: Participant, as: string): Promise<readonly Offer[]> {
  const active = await participant.active(as, INSTRUCTION, "InterfaceFilter");
  return active.flatMap(({ contractId, views }) => {
    const [view = {}] = Object.values(views);
    const transfer = objectOf(view["transfer"]);
    const { admin, id } = objectOf(transfer["instrumentId"]);
    if (transfer["receiver"] !== receiver) return [];
    const [amount = "", sender = "", executeBefore = ""] = ["amount", "sender", "executeBefore"].map((name) =>
      textOf(transfer[name]),
    );
    return [{ contractId, admin: textOf(admin), instrument: textOf(id), amount, sender, receiver, executeBefore }];
  });
}

/** What has become of a transfer. */
export interface Transferred {
  /** The offer that waits for the receiver; undefined if the transfer is complete. */
  readonly offer: string | undefined;
  /** What the receiver got, if it is complete. */
  readonly holdings: readonly Created[];
}

/** Moves one token, with the answers of its registry. */
export class Wallet {
  readonly #token: Token;
  readonly #registryUrl: string | undefined;

  /** `registryUrl` has no slash at its end; undefined where nothing is asked but to mint by an offer. */
  constructor(token: Token, registryUrl: string | undefined) {
    this.#token = token;
    this.#registryUrl = registryUrl;
  }

  /** Accepts as the receiver, where its participant is given. Returns why it is not accepted; undefined if it is. */
  async acceptFor(receiver: Actor | undefined, contractId: string): Promise<string | undefined> {
    if (receiver === undefined) return "its participant is not among those given, so it is not accepted";
    if (this.#registryUrl === undefined) return "no registry is given, so it is not accepted";
    await this.accept(receiver, contractId);
    return undefined;
  }

  /** Accepts as the receiver. */
  async accept({ participant, party }: Actor, contractId: string): Promise<Transferred> {
    const { choiceContextData, disclosedContracts } = await this.#ask(
      `transfer-instruction/v1/${contractId}/choice-contexts/accept`,
      {},
    );
    const argument = { extraArgs: { context: objectOf(choiceContextData), meta: EMPTY } };
    const command = { templateId: INSTRUCTION, contractId, choice: "TransferInstruction_Accept", argument };
    const { synchronizerId } = this.#token;
    for (const until = Date.now() + SEEN_MS; ; await pause(PAUSE_MS)) {
      try {
        return transferred(await participant.submit([party], [command], synchronizerId, listOf(disclosedContracts)));
      } catch (error) {
        // The receiver's participant sees an offer of another one a moment later.
        const isNew = error instanceof LedgerError && error.code === "CONTRACT_NOT_FOUND" && Date.now() < until;
        if (!isNew) throw error;
      }
    }
  }

  /** Transfers what the sender has and is not locked, or the `inputs`. Throws SetUpError if that is not enough. */
  async transfer(
    { participant, party: sender }: Actor,
    { receiver, instrument, amount }: Mint,
    inputs?: readonly string[],
  ): Promise<Transferred> {
    const { issuer, synchronizerId } = this.#token;
    const admin = issuer.party;
    const transfer = {
      sender,
      receiver,
      amount,
      instrumentId: { admin, id: instrument },
      // The clock of the ledger may be a little behind.
      requestedAt: new Date(Date.now() - 1_000).toISOString(),
      executeBefore: new Date(Date.now() + DAY_MS).toISOString(),
      inputHoldingCids: inputs ?? (await this.#inputsFor({ participant, party: sender }, instrument, amount)),
      meta: EMPTY,
    };
    const argument = { expectedAdmin: admin, transfer, extraArgs: { context: EMPTY, meta: EMPTY } };
    const answer = await this.#ask("transfer-instruction/v1/transfer-factory", {
      choiceArguments: argument,
      excludeDebugFields: true,
    });
    const { choiceContextData, disclosedContracts } = objectOf(answer["choiceContext"]);
    const command = {
      templateId: FACTORY,
      contractId: textOf(answer["factoryId"]),
      choice: "TransferFactory_Transfer",
      argument: { ...argument, extraArgs: { context: objectOf(choiceContextData), meta: EMPTY } },
    };
    return transferred(await participant.submit([sender], [command], synchronizerId, listOf(disclosedContracts)));
  }

  /**
   * The issuer makes holdings for the receiver, by an offer. Returns it; undefined if the receiver has them already, by a
   * preapproval.
   */
  async mint(mint: Mint): Promise<string | undefined> {
    const { kind, issuer, rules, synchronizerId } = this.#token;
    const { participant, party } = issuer;
    if (!("hold" in kind.mint)) {
      const { offer, offerTemplate } = kind.mint;
      const { created } = await participant.submit([party], [offer(party, rules, mint)], synchronizerId);
      const made = created.find(({ templateId }) => templateId.endsWith(offerTemplate));
      if (made === undefined) throw new LedgerError("the token's mint has made no offer", undefined, undefined);
      return made.contractId;
    }
    if (this.#registryUrl === undefined)
      throw new SetUpError("this token is minted by a transfer of its issuer: give --registry");
    const { created } = await participant.submit([party], [kind.mint.hold(party, mint)], synchronizerId);
    const inputs = created.map(({ contractId }) => contractId);
    return (await this.transfer(issuer, mint, inputs)).offer;
  }

  /** Ends holdings of a party: it transfers them to the issuer, who archives what comes. */
  async burn(owner: Actor, instrument: string, amount: string): Promise<void> {
    const { issuer, synchronizerId } = this.#token;
    const { participant, party } = issuer;
    const sent = await this.transfer(owner, { receiver: party, instrument, amount });
    const { holdings } = sent.offer === undefined ? sent : await this.accept(issuer, sent.offer);
    const archive = holdings.map(({ contractId, templateId }) => ({
      templateId,
      contractId,
      choice: "Archive",
      argument: {},
    }));
    await participant.submit([party], archive, synchronizerId);
  }

  /** The largest first, until they suffice. */
  async #inputsFor(owner: Actor, instrument: string, amount: string): Promise<readonly string[]> {
    const admin = this.#token.issuer.party;
    const holdings = (await holdingsOf(owner))
      .filter((one) => one.admin === admin && one.instrument === instrument && !one.isLocked)
      .toSorted((a, b) => Number(unitsOf(b.amount) - unitsOf(a.amount)));
    const needed = unitsOf(amount);
    const inputs: string[] = [];
    let sum = 0n;
    for (const holding of holdings.slice(0, MAX_INPUTS)) {
      if (sum >= needed) break;
      inputs.push(holding.contractId);
      sum += unitsOf(holding.amount);
    }
    if (sum >= needed) return inputs;
    const [hint = ""] = owner.party.split("::");
    throw new SetUpError(`${hint} has ${amountOf(sum)} ${instrument} that is not locked, less than ${amount}`);
  }

  async #ask(path: string, body: JsonObject): Promise<JsonObject> {
    const registrar = `/api/token-standard/v0/registrars/${this.#token.issuer.party}/registry`;
    if (this.#registryUrl === undefined) throw new SetUpError("the running service is needed: give --registry");
    return ask(this.#registryUrl, `${registrar}/${path}`, body);
  }
}

const EMPTY = { values: {} };

function transferred({ created, result }: Transaction): Transferred {
  const { tag, value } = objectOf(objectOf(result)["output"]);
  const { transferInstructionCid, receiverHoldingCids } = objectOf(value);
  if (tag === "TransferInstructionResult_Pending") return { offer: textOf(transferInstructionCid), holdings: [] };
  const ids = listOf(receiverHoldingCids);
  return { offer: undefined, holdings: created.filter(({ contractId }) => ids.includes(contractId)) };
}

/** A service that was started a moment ago has to read the ledger first, and a new offer comes to it a moment later. */
const WAIT_MS = 60_000;
const PAUSE_MS = 500;
/** How long a participant may take to see what another one has made. */
const SEEN_MS = 10_000;

/** Asks until there is an answer. */
async function ask(registryUrl: string, path: string, body: JsonObject): Promise<JsonObject> {
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(new Error(`no answer within ${WAIT_MS / 1_000} s`)), WAIT_MS);
  let last = "";
  try {
    for (;;) {
      const answer = await post(registryUrl + path, body, end.signal);
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

/** Returns the answer, or why there is none yet. Throws LedgerError where a wait would not help. */
async function post(url: string, body: JsonObject, signal: AbortSignal): Promise<JsonObject | string> {
  let response: Response;
  let text: string;
  try {
    const headers = { "content-type": "application/json" };
    response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body), signal });
    text = await response.text();
  } catch (error) {
    return `it cannot be reached: ${String(causeOf(error))}`;
  }
  if (response.ok) return objectOf(JSON.parse(text) as Json);
  const why = `${response.status} ${text.slice(0, 300)}`;
  if (response.status === 404 || response.status === 409 || response.status >= 500) return why;
  throw new LedgerError(`the registry refuses: ${why}`, response.status, undefined);
}

const DECIMALS = 10;
const ONE = 10n ** BigInt(DECIMALS);

/** In units of 10 decimals. */
export function unitsOf(amount: string): bigint {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole) * ONE + BigInt(fraction.padEnd(DECIMALS, "0").slice(0, DECIMALS) || "0");
}

export const amountOf = (units: bigint): string =>
  `${units / ONE}.${String(units % ONE)
    .padStart(DECIMALS, "0")
    .replace(/(?<=\d)0+$/, "")}`;
