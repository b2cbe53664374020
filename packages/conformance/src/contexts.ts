/** Checks of factories and choice contexts: what a wallet submits. */
import { readBlob } from "./blob.js";
import { type Check, requireAnswer, requireVerdict, Skipped, Violation } from "./check.js";
import { isObject, type Json, type JsonObject, listOf, objectOf, sortedJson, textOf } from "./json.js";
import type { Registry } from "./registry.js";
import { apiName, listedApis } from "./served.js";
import { ask, askAll, contextsOf, isFactory, tradesOf, transferOf } from "./requests.js";

const INTERFACE = "Splice.Api.Token.MetadataV1";
/** Not offered: the answer of a path that a registry does not have. */
const NOT_OFFERED = new Set([404, 405, 501]);

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
      const asked = await askAll(registry);
      const served = new Set(asked.flatMap(({ operation, context }) => (context === undefined ? [] : [operation.api])));
      const apis = await listedApis(registry);
      for (const { operation, exchange } of asked) {
        const { status, json } = exchange;
        // What is neither listed nor served may be answered by anything, such as a gateway.
        if (!served.has(operation.api) && !apis.has(apiName(operation.api))) continue;
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
      for (const { operation, exchange, context } of await contextsOf(registry)) {
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
      for (const { operation, exchange, context, factoryId } of await contextsOf(registry))
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
      for (const { operation, exchange, context } of await contextsOf(registry)) {
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
      for (const { operation, exchange, context } of await contextsOf(registry))
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
      for (const { operation, exchange, context } of await contextsOf(registry)) {
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
      const [trade] = tradesOf(registry);
      const { sender } = trade;
      for (const version of ["v1", "v2"] as const)
        for (const to of new Set([sender, trade.receiver])) {
          const operation = registry.operation(`transfer-instruction-${version}`, "getTransferFactory");
          const body = { choiceArguments: transferOf({ ...trade, receiver: to }, version) };
          const { exchange, context } = await ask(registry, { operation, ids: {}, body });
          if (context === undefined) continue;
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
    id: "foreign-instrument",
    severity: "should",
    says: "a transfer of an instrument of another admin, or of one that does not exist, is refused",
    quote:
      "The choice arguments are provided so that the registry can also provide choice-argument specific contracts, " +
      "e.g., the configuration for a specific instrument-id.",
    place: "transfer-instruction-v1 1.1.0, GetFactoryRequest.choiceArguments",
    help: "Compare expectedAdmin and instrumentId with what the registry has, and answer 400 or 404",
    async run(registry) {
      if (!registry.known.negative) throw new Skipped("wrong requests are sent with --negative only");
      const [trade] = tradesOf(registry);
      const nobody = `nobody::1220${"0".repeat(64)}`;
      for (const version of ["v1", "v2"] as const)
        for (const foreign of [{ registrar: nobody }, { instrument: "no-such-instrument-of-anybody" }]) {
          const operation = registry.operation(`transfer-instruction-${version}`, "getTransferFactory");
          const body = { choiceArguments: transferOf({ ...trade, ...foreign }, version) };
          const { exchange } = await ask(registry, { operation, ids: {}, body });
          if (exchange.status === 200)
            throw new Violation(`a transfer with ${Object.entries(foreign).flat().join(" ")} is answered`, exchange);
        }
    },
  },
  {
    id: "malformed-body",
    severity: "should",
    says: "a body that is no JSON is refused as the caller's mistake",
    quote: "'400': bad request",
    place: "each document of version 1 and 2, components/responses/400",
    help: "Answer 400 where the body cannot be read: a wallet tries again after 500, and submits after 200",
    async run(registry) {
      if (!registry.known.negative) throw new Skipped("wrong requests are sent with --negative only");
      for (const { operation } of await contextsOf(registry)) {
        if (!isFactory(operation)) continue;
        const exchange = await registry.call(operation, { text: '{"choiceArguments": ' });
        requireVerdict(exchange);
        if (exchange.status < 400 || exchange.status > 499)
          throw new Violation(`the status is ${exchange.status}, not 400`, exchange);
      }
    },
  },
  {
    id: "unknown-contract",
    severity: "should",
    says: "a choice on a contract that does not exist is refused",
    quote: "The contract ID of the transfer instruction to accept.",
    place: "each document, parameters of choice-contexts",
    help: "Look the contract up before the context is built, and answer 404",
    async run(registry) {
      if (!registry.known.negative) throw new Skipped("wrong requests are sent with --negative only");
      for (const { operation, request } of await contextsOf(registry)) {
        if (isFactory(operation)) continue;
        const ids = Object.fromEntries(Object.keys(request.ids).map((name) => [name, `00${"ab".repeat(32)}`]));
        const exchange = await registry.call(operation, { ids, body: request.body });
        if (exchange.status === 200) throw new Violation("a contract id of nobody has a context", exchange);
      }
    },
  },
  {
    id: "prefetch",
    severity: "should",
    says: "a factory of version 2 has the same context whichever holdings it is given",
    quote:
      "Asset implementations SHOULD avoid that this value depends on contract-ids passed in the choice arguments, so that " +
      "clients can prefetch choice contexts",
    place: "transfer-instruction-v2 1.0.0, ChoiceContext",
    help: "Disclose the holdings' locks and the like by their parties, or leave them to those who see them",
    async run(registry) {
      if (registry.known.holdings.length === 0) throw new Skipped("give --holding");
      for (const { operation, exchange, context, request } of await contextsOf(registry)) {
        if (!isFactory(operation) || !operation.api.endsWith("-v2")) continue;
        const without = { ...request, body: withoutHoldings(request.body) };
        const other = (await ask(registry, without)).context;
        const again = (await ask(registry, request)).context;
        // What changes by itself is another check's.
        if (again === undefined || contextText(again) !== contextText(context)) continue;
        if (other === undefined || contextText(other) !== contextText(context))
          throw new Violation(
            `${operation.document}: ${operation.id} has another context without the holdings`,
            exchange,
          );
      }
    },
  },
  {
    id: "same-answer",
    severity: "should",
    says: "the same request has the same answer, whatever was asked between",
    quote: "the choice context MAY be specific to the choice being exercised.",
    place: "ChoiceContext: nothing else may decide on it",
    help: "Answer from one state; a clock may change which contract serves, and nothing else",
    async run(registry) {
      // All operations were asked once: between two answers to one there are those to the others.
      return compareWith(registry, await contextsOf(registry), "a moment before");
    },
  },
  {
    id: "replicas",
    severity: "should",
    says: "the other replica gives the same answers",
    quote: "the choice context MAY be specific to the choice being exercised.",
    place: "ChoiceContext: nothing else may decide on it, and so not the replica",
    help: "Let replicas read one database, or send a wallet's requests to one of them",
    async run(registry) {
      const replica = registry.replica();
      if (replica === undefined) throw new Skipped("give --replica");
      return compareWith(replica, await contextsOf(registry), "the first replica");
    },
  },
  {
    id: "ids-in-values",
    severity: "information",
    says: "each contract that the values name is disclosed too",
    quote: "additional reference data that is passed in via disclosed contracts, which are in turn referred to",
    place:
      "ChoiceContext; a contract that is not disclosed has to be visible to whoever submits, which only a ledger can tell",
    help: "Disclose it, unless each caller sees it",
    async run(registry) {
      const found = new Set<string>();
      for (const { operation, context } of await contextsOf(registry)) {
        const known = new Set(disclosedOf(context).map(({ contractId }) => textOf(contractId)));
        for (const id of idsIn(context["choiceContextData"] ?? null))
          if (!known.has(id)) found.add(`${operation.id} names ${shortened(id)}, which it does not disclose`);
      }
      return [...found].join("; ") || undefined;
    },
  },
];

const withoutHoldings = (body: Json): Json => {
  const { choiceArguments } = objectOf(body);
  const { transfer, ...others } = objectOf(choiceArguments);
  const emptied =
    transfer === undefined
      ? { ...others, inputHoldingCids: [] }
      : { ...others, transfer: { ...objectOf(transfer), inputHoldingCids: [] } };
  return { ...objectOf(body), choiceArguments: emptied };
};

/** Contracts are disclosed in no order, and only debug fields may tell more of them. */
function contextText(context: JsonObject): string {
  const disclosed = disclosedOf(context).map(({ debugPayload: _payload, ...one }) => sortedJson(one));
  return sortedJson({ data: context["choiceContextData"] ?? null, disclosed: disclosed.toSorted() });
}

const withoutIds = ({ choiceContextData = null }: JsonObject) =>
  sortedJson(choiceContextData).replaceAll(/("tag":"AV_ContractId","value":)"[^"]*"/g, "$1null");
const templates = (context: JsonObject) =>
  disclosedOf(context)
    .map(({ templateId }) => textOf(templateId))
    .toSorted()
    .join();

/** Asks again. Returns what is worth saying where contexts differ in their contract ids alone; throws where they differ otherwise. */
async function compareWith(registry: Registry, asked: Awaited<ReturnType<typeof contextsOf>>, before: string) {
  let note: string | undefined;
  for (const { operation, request, context } of asked) {
    const { context: again, exchange } = await ask(registry, request);
    if (again === undefined) throw new Skipped("the operation is not answered");
    if (contextText(context) === contextText(again)) continue;
    if (withoutIds(context) !== withoutIds(again) || templates(context) !== templates(again))
      throw new Violation(`${operation.id} has another context than ${before}`, exchange);
    note = "a contract has changed between two answers, its kind has not";
  }
  return note;
}

/** The contract ids that values name. */
function idsIn(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(idsIn);
  if (!isObject(value)) return [];
  if (value["tag"] === "AV_ContractId") return [textOf(value["value"])];
  return Object.values(value).flatMap(idsIn);
}

const shortened = (id: string): string => (id.length > 24 ? `${id.slice(0, 20)}…` : id);
