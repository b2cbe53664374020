/** The requests of a wallet, as far as what is known of the registry allows them, and what came. */
import { Skipped } from "./check.js";
import type { Operation } from "./documents.js";
import { type Json, type JsonObject, objectOf, textOf } from "./json.js";
import type { Exchange } from "./prober.js";
import type { Known, Registry } from "./registry.js";

const DAY_MS = 24 * 3_600_000;
const META = { values: {} };
const extraArgs = { context: META, meta: META };

export interface Request {
  readonly operation: Operation;
  readonly ids: Readonly<Record<string, string>>;
  readonly body: Json;
}

export interface Asked {
  readonly request: Request;
  readonly operation: Operation;
  readonly exchange: Exchange;
  /** The context; undefined if the answer is no success. */
  readonly context: JsonObject | undefined;
  /** Undefined for a choice on a contract that is known. */
  readonly factoryId: string | undefined;
}

/** What a wallet transfers or allocates: all of it is known. */
export interface Trade {
  readonly registrar: string;
  readonly instrument: string;
  readonly sender: string;
  readonly receiver: string;
  readonly holdings: readonly string[];
}

/** One of each instrument. Throws Skipped if a part of it was not given. */
export function tradesOf({ known }: Registry): readonly [Trade, ...Trade[]] {
  const { registrar, instruments, sender, receiver, holdings } = known;
  const [first, ...others] = instruments;
  if (registrar === undefined || first === undefined || sender === undefined || receiver === undefined)
    throw new Skipped("give --registrar, --instrument, --sender and --receiver");
  const tradeOf = (instrument: string) => ({ registrar, instrument, sender, receiver, holdings });
  return [tradeOf(first), ...others.map(tradeOf)];
}

export type Version = "v1" | "v2";

const timeIn = (ms: number): string => new Date(Date.now() + ms).toISOString();
/** A little ago: the clock of a registry may be behind. */
const requestedAt = (): string => timeIn(-1_000);
/** In version 2 an account, here without a provider. */
const accountOf = (owner: string) => ({ owner, provider: null, id: "" });
const AMOUNT = "1.0000000000";

export function transferOf({ registrar, instrument, sender, receiver, holdings }: Trade, version: Version): JsonObject {
  const transfer = {
    sender: version === "v1" ? sender : accountOf(sender),
    receiver: version === "v1" ? receiver : accountOf(receiver),
    amount: AMOUNT,
    instrumentId: { admin: registrar, id: instrument },
    requestedAt: requestedAt(),
    executeBefore: timeIn(DAY_MS),
    inputHoldingCids: holdings,
    meta: META,
  };
  return version === "v1"
    ? { expectedAdmin: registrar, transfer, extraArgs }
    : { transfer, actors: [sender], extraArgs };
}

/** The sender's leg of a trade that the receiver executes. */
function allocationOf({ registrar, instrument, sender, receiver, holdings }: Trade, version: Version): JsonObject {
  const common = { requestedAt: requestedAt(), inputHoldingCids: holdings, extraArgs };
  if (version === "v1") {
    const instrumentId = { admin: registrar, id: instrument };
    const transferLeg = { sender, receiver, amount: AMOUNT, instrumentId, meta: META };
    const settlement = {
      executor: receiver,
      settlementRef: { id: "conformance", cid: null },
      requestedAt: requestedAt(),
      allocateBefore: timeIn(DAY_MS),
      settleBefore: timeIn(2 * DAY_MS),
      meta: META,
    };
    return { ...common, expectedAdmin: registrar, allocation: { settlement, transferLegId: "1", transferLeg } };
  }
  const otherside = accountOf(receiver);
  return {
    ...common,
    settlement: { executors: [receiver], id: "conformance", cid: null, meta: META },
    allocation: {
      admin: registrar,
      authorizer: accountOf(sender),
      transferLegSides: [
        { transferLegId: "1", side: "SenderSide", otherside, amount: AMOUNT, instrumentId: instrument, meta: META },
      ],
      settlementDeadline: null,
      nextIterationFunding: null,
      committed: false,
      meta: META,
    },
    actors: [sender],
  };
}

/** The receiver settles what the sender has allocated to it. */
function settlementOf({ instrument, sender, receiver }: Trade, allocations: readonly string[]): JsonObject {
  const leg = { sender: accountOf(sender), receiver: accountOf(receiver), amount: AMOUNT, instrumentId: instrument };
  return {
    settlement: { executors: [receiver], id: "conformance", cid: null, meta: META },
    transferLegs: [{ transferLegId: "1", ...leg, meta: META }],
    allocations: allocations.map((allocationCid) => ({
      allocationCid,
      extraTransferLegSides: [],
      nextIterationFunding: null,
    })),
    actors: [receiver],
    extraArgs,
  };
}

type Arguments = (trade: Trade, known: Known) => JsonObject | undefined;

/** What each factory is given. One that is not here, of a further document, is not asked. */
const factories: Readonly<Record<string, Arguments>> = {
  "transfer-instruction-v1 getTransferFactory": (trade) => transferOf(trade, "v1"),
  "transfer-instruction-v2 getTransferFactory": (trade) => transferOf(trade, "v2"),
  "allocation-instruction-v1 getAllocationFactory": (trade) => allocationOf(trade, "v1"),
  "allocation-instruction-v2 getAllocationFactory": (trade) => allocationOf(trade, "v2"),
  "allocation-v2 getSettlementFactory": (trade, { allocation }) =>
    allocation === undefined ? undefined : settlementOf(trade, [allocation]),
};

/** The contract ids that fields of paths stand for. */
const contracts: Readonly<Record<string, (known: Known) => string | undefined>> = {
  transferInstructionId: ({ offer }) => offer,
  allocationId: ({ allocation }) => allocation,
  allocationInstructionId: ({ allocationInstruction }) => allocationInstruction,
};

const METADATA = "token-metadata-v1";

/** Whether an answer has a factory: it is asked before there is a contract. */
export const isFactory = ({ path, api }: Operation): boolean => api !== METADATA && !path.includes("{");

/** The requests that what is known allows. Throws Skipped if that is none. */
function requestsOf(registry: Registry): readonly Request[] {
  const { known, operations } = registry;
  const trades = unlessSkipped(() => tradesOf(registry)) ?? [];
  const requests = operations.flatMap((operation): readonly Request[] => {
    if (operation.api === METADATA) return [];
    if (!isFactory(operation)) {
      const [, field = ""] = /\{(\w+)\}/.exec(operation.path) ?? [];
      const id = contracts[field]?.(known);
      return id === undefined ? [] : [{ operation, ids: { [field]: id }, body: { meta: {} } }];
    }
    return trades.flatMap((trade) => {
      const choiceArguments = factories[`${operation.api} ${operation.id}`]?.(trade, known);
      if (choiceArguments === undefined) return [];
      return [{ operation, ids: {}, body: { choiceArguments, excludeDebugFields: true } }];
    });
  });
  if (requests.length === 0)
    throw new Skipped("give --registrar, --instrument, --sender and --receiver, or --offer, or --allocation");
  return requests;
}

/** Undefined where that is skipped. */
function unlessSkipped<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Skipped) return undefined;
    throw error;
  }
}

export async function ask(registry: Registry, request: Request): Promise<Asked> {
  const { operation, ids, body } = request;
  const exchange = await registry.call(operation, { ids, body });
  const answer = objectOf(exchange.json);
  const hasFactory = isFactory(operation);
  // A page in HTML with status 200 is what some servers have for each path that they do not serve.
  const isAnswered = exchange.status === 200 && exchange.json !== undefined;
  const context = isAnswered ? (hasFactory ? objectOf(answer["choiceContext"]) : answer) : undefined;
  return { request, operation, exchange, context, factoryId: hasFactory ? textOf(answer["factoryId"]) : undefined };
}

/** The answers to all of them: one request each is enough for most checks. */
export const askAll = (registry: Registry): Promise<readonly Asked[]> =>
  registry.once("operations", async () => {
    const all: Asked[] = [];
    for (const request of requestsOf(registry)) all.push(await ask(registry, request));
    return all;
  });

/** Those that were answered with a context. Throws Skipped if none was. */
export async function contextsOf(registry: Registry): Promise<readonly (Asked & { readonly context: JsonObject })[]> {
  const asked = await askAll(registry);
  const answered = asked.flatMap(({ context, ...one }) => (context === undefined ? [] : [{ ...one, context }]));
  if (answered.length === 0) throw new Skipped("no operation was answered with a context");
  return answered;
}
