/** Checks of factories and choice contexts: what a wallet submits. */
import { readBlob } from "./blob.js";
import { type Check, requireAnswer, Skipped, Violation } from "./check.js";
import type { Operation } from "./documents.js";
import { isObject, type Json, type JsonObject, listOf, objectOf, sortedJson, textOf } from "./json.js";
import type { Exchange } from "./prober.js";
import type { Registry } from "./registry.js";

const INTERFACE = "Splice.Api.Token.MetadataV1";
const DAY_MS = 24 * 3_600_000;
/** Not offered: the answer of a path that a registry does not have. */
const NOT_OFFERED = new Set([404, 405, 501]);

interface Asked {
  readonly operation: Operation;
  readonly exchange: Exchange;
  /** The context; undefined if the answer is no success. */
  readonly context: JsonObject | undefined;
  readonly factoryId: string | undefined;
}

interface Request {
  readonly operation: Operation;
  readonly ids: Readonly<Record<string, string>>;
  readonly body: Json;
}

const META = { values: {} };

/** What a wallet transfers or allocates: all of it is known. */
interface Trade {
  readonly registrar: string;
  readonly instrument: string;
  readonly sender: string;
  readonly receiver: string;
  readonly holdings: readonly string[];
}

/** Throws Skipped if a part of it was not given. */
function tradeOf({ known }: Registry): Trade {
  const { registrar, instrument, sender, receiver, holdings } = known;
  if (registrar === undefined || instrument === undefined || sender === undefined || receiver === undefined)
    throw new Skipped("give --registrar, --instrument, --sender and --receiver");
  return { registrar, instrument, sender, receiver, holdings };
}

type Version = "v1" | "v2";

const timeIn = (ms: number): string => new Date(Date.now() + ms).toISOString();
/** A little ago: the clock of a registry may be behind. */
const requestedAt = (): string => timeIn(-1_000);
const extraArgs = { context: META, meta: META };
/** In version 2 an account, here without a provider. */
const accountOf = (owner: string) => ({ owner, provider: null, id: "" });

function transferOf({ registrar, instrument, sender, receiver, holdings }: Trade, version: Version): JsonObject {
  const transfer = {
    sender: version === "v1" ? sender : accountOf(sender),
    receiver: version === "v1" ? receiver : accountOf(receiver),
    amount: "1.0000000000",
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
  const amount = "1.0000000000";
  if (version === "v1") {
    const transferLeg = { sender, receiver, amount, instrumentId: { admin: registrar, id: instrument }, meta: META };
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
        { transferLegId: "1", side: "SenderSide", otherside, amount, instrumentId: instrument, meta: META },
      ],
      settlementDeadline: null,
      nextIterationFunding: null,
      committed: false,
      meta: META,
    },
    actors: [sender],
  };
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

/** The requests that what is known allows. Throws Skipped if that is none. */
function requestsOf(registry: Registry): readonly Request[] {
  const { offer, allocation } = registry.known;
  const requests: Request[] = [];
  const add = (api: string, id: string, ids: Readonly<Record<string, string>>, body: Json) =>
    requests.push({ operation: registry.operation(api, id), ids, body });
  const trade = unlessSkipped(() => tradeOf(registry));
  if (trade !== undefined)
    for (const version of ["v1", "v2"] as const)
      for (const [api, id, choiceArguments] of [
        ["transfer-instruction", "getTransferFactory", transferOf(trade, version)],
        ["allocation-instruction", "getAllocationFactory", allocationOf(trade, version)],
      ] as const)
        add(`${api}-${version}`, id, {}, { choiceArguments, excludeDebugFields: true });
  if (offer !== undefined)
    for (const version of ["v1", "v2"])
      for (const choice of ["Accept", "Reject", "Withdraw"])
        add(
          `transfer-instruction-${version}`,
          `getTransferInstruction${choice}Context`,
          { transferInstructionId: offer },
          { meta: {} },
        );
  if (allocation !== undefined)
    for (const [api, choices] of [
      ["allocation-v1", ["Transfer", "Withdraw", "Cancel"]],
      ["allocation-v2", ["Withdraw", "Cancel"]],
    ] as const)
      for (const choice of choices)
        add(api, `getAllocation${choice}Context`, { allocationId: allocation }, { meta: {} });
  if (requests.length === 0)
    throw new Skipped("give --registrar, --instrument, --sender and --receiver, or --offer, or --allocation");
  return requests;
}

async function ask(registry: Registry, { operation, ids, body }: Request): Promise<Asked> {
  const exchange = await registry.call(operation, { ids, body });
  const answer = objectOf(exchange.json);
  const isFactory = operation.id.endsWith("Factory");
  const context = exchange.status === 200 ? (isFactory ? objectOf(answer["choiceContext"]) : answer) : undefined;
  return { operation, exchange, context, factoryId: isFactory ? textOf(answer["factoryId"]) : undefined };
}

/** Answers by registry: one request each is enough for all checks but that of determinism, and for one that is tried again. */
const answers = new WeakMap<Registry, Promise<readonly Asked[]>>();

async function askAll(registry: Registry): Promise<readonly Asked[]> {
  const requests = requestsOf(registry);
  const all: Asked[] = [];
  for (const request of requests) all.push(await ask(registry, request));
  return all;
}

/** Those that were answered. Throws Skipped if none was. */
async function contexts(registry: Registry) {
  let asked = answers.get(registry);
  if (asked === undefined) answers.set(registry, (asked = askAll(registry)));
  const answered = (await asked).flatMap(({ context, ...one }) => (context === undefined ? [] : [{ ...one, context }]));
  if (answered.length === 0) throw new Skipped("no operation was answered with a context");
  return answered;
}

const disclosedOf = (context: JsonObject): readonly JsonObject[] => listOf(context["disclosedContracts"]).map(objectOf);

/** Of Daml's AnyValue, as JSON. */
const TAGS = new Set([
  "AV_Text",
  "AV_Int",
  "AV_Decimal",
  "AV_Bool",
  "AV_Date",
  "AV_Time",
  "AV_RelTime",
  "AV_Party",
  "AV_ContractId",
  "AV_List",
  "AV_Map",
]);

/** What is wrong with a value of a context, with its path; undefined if nothing is. */
function defectOf(value: Json | undefined, path: string): string | undefined {
  if (!isObject(value)) return `${path} is no object with tag and value`;
  const { tag, value: inner } = value;
  if (!TAGS.has(textOf(tag))) return `${path} has the tag ${JSON.stringify(tag ?? null)}`;
  if (tag === "AV_List") {
    if (!Array.isArray(inner)) return `${path} is an AV_List without a list`;
    return listOf(inner)
      .map((one, index) => defectOf(one, `${path}[${index}]`))
      .find((defect) => defect !== undefined);
  }
  if (tag === "AV_Map") return isObject(inner) ? mapDefect(inner, path) : `${path} is an AV_Map without a map`;
  return inner === undefined ? `${path} has no value` : undefined;
}

const mapDefect = (values: JsonObject, path: string): string | undefined =>
  Object.entries(values)
    .map(([key, value]) => defectOf(value, `${path}.${key}`))
    .find((defect) => defect !== undefined);

export const contextChecks: readonly Check[] = [
  {
    id: "operations-answer",
    severity: "must",
    says: "an operation that is served answers with the shape of its document, or with one of its statuses and an error",
    quote:
      "responses: '200': ok, '400': bad request, '404': not found, '409': conflict; ErrorResponse: required: error",
    place: "each document, paths and components/responses",
    help: "Correct the body that the message names",
    async run(registry) {
      for (const request of requestsOf(registry)) {
        const { operation, exchange } = await ask(registry, request);
        const { status, json } = exchange;
        if (status === 200) requireAnswer(exchange, operation.defects(200, json));
        else if (status === 0) throw new Violation(`there is no answer: ${exchange.text}`, exchange);
        // A path that is not served, or callers that are not let in, say nothing of the operation.
        else if (operation.statuses.includes(status) && !NOT_OFFERED.has(status)) {
          const [defect] = operation.defects(status, json ?? null);
          if (defect !== undefined) throw new Violation(`the error ${status}: ${defect}`, exchange);
        }
      }
    },
  },
  {
    id: "context-values",
    severity: "must",
    says: "choiceContextData has values, each with a known tag",
    quote: "data ChoiceContext = ChoiceContext with values : TextMap AnyValue",
    place: `the Daml interface ${INTERFACE}`,
    help: 'Write {"values": {…}}, each value as {"tag": "AV_ContractId", "value": …}; an empty context is {"values": {}}',
    async run(registry) {
      for (const { operation, exchange, context } of await contexts(registry)) {
        const data = context["choiceContextData"];
        const values = isObject(data) ? data["values"] : undefined;
        if (!isObject(values))
          throw new Violation(
            `${operation.id}: choiceContextData is ${JSON.stringify(data ?? null).slice(0, 60)}, without values`,
            exchange,
          );
        const defect = mapDefect(values, "values");
        if (defect !== undefined) throw new Violation(`${operation.id}: ${defect}`, exchange);
      }
    },
  },
  {
    id: "factory-disclosed",
    severity: "should",
    says: "the factory is among the disclosed contracts",
    quote: "The contracts that are required to be disclosed to the participant node for exercising the choice.",
    place: "ChoiceContext.disclosedContracts",
    help: "Disclose the factory: most wallets' participants do not see it",
    async run(registry) {
      for (const { operation, exchange, context, factoryId } of await contexts(registry))
        if (factoryId !== undefined && !disclosedOf(context).some(({ contractId }) => contractId === factoryId))
          throw new Violation(`${operation.id}: the factory ${factoryId} is not disclosed`, exchange);
    },
  },
  {
    id: "disclosed-once",
    severity: "should",
    says: "each contract is disclosed once",
    quote: "The contracts that are required to be disclosed to the participant node for exercising the choice.",
    place: "ChoiceContext.disclosedContracts",
    help: "Leave out the second: a participant refuses a command that discloses a contract twice in different forms",
    async run(registry) {
      for (const { operation, exchange, context } of await contexts(registry)) {
        const ids = disclosedOf(context).map(({ contractId }) => textOf(contractId));
        const again = ids.find((id, index) => ids.indexOf(id) !== index);
        if (again !== undefined) throw new Violation(`${operation.id}: ${again} is disclosed more than once`, exchange);
      }
    },
  },
  {
    id: "blobs",
    severity: "should",
    says: "a blob is base64 of the contract, with the id and template that stand beside it",
    quote: "Use this data only if you trust the provider, as it might not match the data in the `createdEventBlob`.",
    place: "DisclosedContract.debugPayload; a participant refuses a blob that does not match its ids",
    help: "Pass created_event_blob of the ledger on as it is",
    async run(registry) {
      for (const { operation, exchange, context } of await contexts(registry))
        for (const { contractId, templateId, createdEventBlob } of disclosedOf(context)) {
          const blob = textOf(createdEventBlob);
          if (blob === "" || Buffer.from(blob, "base64").toString("base64") !== blob)
            throw new Violation(`${operation.id}: the blob of ${textOf(contractId)} is no canonical base64`, exchange);
          const read = readBlob(blob);
          if (read === undefined)
            throw new Violation(`${operation.id}: the blob of ${textOf(contractId)} is no contract`, exchange);
          if (read.contractId !== textOf(contractId))
            throw new Violation(
              `${operation.id}: the blob of ${textOf(contractId)} is of ${read.contractId}`,
              exchange,
            );
          // A package by name is resolved by the participant.
          if (!textOf(templateId).startsWith("#") && read.templateId !== textOf(templateId))
            throw new Violation(
              `${operation.id}: ${textOf(contractId)} is of ${read.templateId}, not of ${textOf(templateId)}`,
              exchange,
            );
        }
    },
  },
  {
    id: "one-synchronizer",
    severity: "should",
    says: "all disclosed contracts are on one synchronizer",
    quote: "The synchronizer to which the contract is currently assigned.",
    place: "DisclosedContract.synchronizerId",
    help: "A transaction runs on one synchronizer: choose contracts that are there together, or answer 409",
    async run(registry) {
      for (const { operation, exchange, context } of await contexts(registry)) {
        const ids = new Set(disclosedOf(context).map(({ synchronizerId }) => textOf(synchronizerId)));
        if (ids.has("")) throw new Violation(`${operation.id}: a synchronizerId is empty`, exchange);
        if (ids.size > 1) throw new Violation(`${operation.id}: there are ${[...ids].join(" and ")}`, exchange);
      }
    },
  },
  {
    id: "transfer-kind",
    severity: "must",
    says: "a transfer to oneself is of the kind self, and one to somebody else is not",
    quote: "`self`: a self-transfer where the sender and receiver are the same party.",
    place: "transfer-instruction-v1 1.1.0, TransferFactoryWithChoiceContext.transferKind",
    help: "Compare sender and receiver before anything else",
    async run(registry) {
      const trade = tradeOf(registry);
      const { sender } = trade;
      const operation = registry.operation("transfer-instruction-v1", "getTransferFactory");
      for (const to of new Set([sender, trade.receiver])) {
        const body = { choiceArguments: transferOf({ ...trade, receiver: to }, "v1") };
        const { exchange } = await ask(registry, { operation, ids: {}, body });
        if (exchange.status !== 200) continue;
        const kind = textOf(objectOf(exchange.json)["transferKind"]);
        if ((kind === "self") !== (to === sender))
          throw new Violation(
            `a transfer to ${to === sender ? "oneself" : "another party"} is ${kind === "" ? "of no kind" : kind}`,
            exchange,
          );
      }
    },
  },
  {
    id: "foreign-admin",
    severity: "should",
    says: "an instrument of another admin is refused",
    quote: "The choice arguments are provided so that the registry can also provide choice-argument specific contracts",
    place: "transfer-instruction-v1 1.1.0, GetFactoryRequest.choiceArguments",
    help: "Compare expectedAdmin and instrumentId.admin with the registrar, and answer 400",
    async run(registry) {
      if (!registry.known.negative) throw new Skipped("wrong requests are sent with --negative only");
      const trade = tradeOf(registry);
      const operation = registry.operation("transfer-instruction-v1", "getTransferFactory");
      const nobody = `nobody::1220${"0".repeat(64)}`;
      const body = { choiceArguments: transferOf({ ...trade, registrar: nobody }, "v1") };
      const { exchange } = await ask(registry, { operation, ids: {}, body });
      if (exchange.status === 200)
        throw new Violation(`a transfer of an instrument of ${nobody} is answered`, exchange);
    },
  },
  {
    id: "same-answer",
    severity: "should",
    says: "the same request has the same answer, whatever was asked between",
    quote: "the choice context MAY be specific to the choice being exercised.",
    place: "ChoiceContext: nothing else may decide on it",
    help: "Order entries and contracts, and answer from one state; a clock may change an answer, a hash map must not",
    async run(registry) {
      const [first, second] = requestsOf(registry);
      if (first === undefined) return;
      const before = await ask(registry, first);
      if (second !== undefined) await ask(registry, second);
      const after = await ask(registry, first);
      if (before.context === undefined || after.context === undefined)
        throw new Skipped("the operation is not answered");
      if (sortedJson(before.context) !== sortedJson(after.context))
        throw new Violation(`${first.operation.id} has another context than a moment before`, after.exchange);
    },
  },
];
