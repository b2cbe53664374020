/** Answers a request as the service does over REST, from contracts of a test: without a ledger, a network or a port. */
import type { DescMethod, Message } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { z } from "zod";
import { MetadataService } from "../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { LIMITS } from "../config/limits.js";
import { isStored, type StoredContract } from "../domain/contract.js";
import type { ContractSource } from "../domain/ledger.js";
import { type JsonObject, parseLedgerTime, valueAt } from "../util/json.js";
import type { Template } from "../domain/template.js";
import { TOKEN_INTERFACES } from "../domain/token-interfaces.js";
import { Decoder } from "../ledger/decode.js";
import { formatProblems, parseSnapshot } from "../ledger/file/snapshot.js";
import { checkedRegistry } from "../registry/checked-registry.js";
import type { RegistryFile } from "../registry/engine/grammar.js";
import { tableRegistry } from "../registry/engine/table-registry.js";
import { type Choice, CHOICES, FACTORIES, type Factory } from "../registry/operation-names.js";
import { QueryExecutor } from "../service/executor.js";
import type { AnyValue, Registry, TransferKind } from "../registry/sdk/registry.js";
import { OPERATION_RPCS } from "../service/operations.js";
import type { ServiceBinding } from "../service/service-binding.js";
import { services } from "../service/services.js";
import { MemoryStore } from "../state/memory-store.js";
import { toBuffer } from "../transport/encoding/disclosed-contract.js";
import { reasonOf, toRestError } from "../transport/errors.js";
import { rpcs } from "../transport/rpcs.js";
import { bindingOf } from "../transport/rest/bindings.js";
import { type RequestReader, requestReader } from "../transport/rest/rest.js";

const text = z.string().min(1);
const json: z.ZodType<JsonObject> = z.record(z.string(), z.json());

export const shortContract = z.strictObject({
  /**
   * `Module:Entity`, with a package id before it or without; or the name in a registry file, such as ":Rules". It may be absent
   * for a contract with views.
   */
  template: text.optional(),
  /** The views that it shows, by their interfaces, such as `transfer-instruction/2`. */
  views: z.record(text, json).readonly().optional(),
  /** Default: the registrar that the views name. Those who signed it also see it. */
  signatories: z.array(text).readonly().optional(),
  /** Default: `contract-1` for the first contract of the list, and so on. */
  contractId: text.optional(),
  /** Default: none, of a contract with views. */
  payload: json.optional(),
  /** Default: 2026-01-01T00:00:00Z. */
  createdAt: text.optional(),
  /** Default: the same for all. */
  synchronizerId: text.optional(),
});

/** A contract with what a test says of it. */
export type ShortContract = Readonly<z.infer<typeof shortContract>>;

/** What a snapshot file contains, as text or as its elements, which may be in short form. */
export type TestContracts = string | readonly (JsonObject | ShortContract)[];

/** An operation by its name in registry files, or the list of instruments. */
export type TestOperation = Factory | Choice | "instruments";

const TEST_OPERATIONS: readonly TestOperation[] = ["instruments", ...FACTORIES, ...CHOICES];

export const testRequest = z.strictObject({
  operation: z.enum(TEST_OPERATIONS),
  registrar: text,
  /** Of a factory. */
  choiceArguments: json.optional(),
  /** The instruction or allocation on which a choice is made. */
  contractId: text.optional(),
  /** Of the token standard. Default: v1, or v2 where v1 does not have the operation. */
  version: z.enum(["v1", "v2"]).optional(),
  /** Of a choice: the `meta` of its request. */
  meta: json.optional(),
  /** The time of the request. Default: when the latest contract was created. */
  at: text.optional(),
  /** The ids of contracts that are archived by then. */
  archived: z.array(text).readonly().optional(),
  /** The ids of contracts that a participant does not tell in time, of templates with `read: by-id`. */
  unread: z.array(text).readonly().optional(),
});

export type TestRequest = Readonly<z.infer<typeof testRequest>>;

/** A request that is refused, or rejected because it is malformed. */
export class RefusedRequest extends Error {
  constructor(
    /** Of HTTP. */
    readonly status: number,
    /** As docs/errors.md lists them. REST does not send it. */
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = "RefusedRequest";
  }
}

/** The methods of an operation by their versions. */
function methodsOf(name: TestOperation): Partial<Record<"v1" | "v2", DescMethod>> {
  if (name === "instruments") return { v1: MetadataService.method.listInstruments };
  const named = OPERATION_RPCS.filter(({ operation }) => operation === name);
  return Object.fromEntries(named.map(({ version, method }) => [version, method]));
}

const ARGUMENT_LIMITS = { depth: LIMITS.maxArgumentDepth, keys: LIMITS.maxArgumentKeys };
const SERVICE_OPTIONS = { overrides: new Map(), countsHoldings: true, openApi: {}, notReadyReason: () => undefined };

/** A value of a choice context, as JSON has it. */
export type ContextValue =
  | {
      readonly tag: Exclude<AnyValue["tag"], "AV_Bool" | "AV_List" | "AV_Map">;
      readonly value: string;
    }
  | { readonly tag: "AV_Bool"; readonly value: boolean }
  | { readonly tag: "AV_List"; readonly value: readonly ContextValue[] }
  | { readonly tag: "AV_Map"; readonly value: Readonly<Record<string, ContextValue>> };

export interface DisclosedContract {
  readonly templateId: string;
  readonly contractId: string;
  readonly createdEventBlob: string;
  readonly synchronizerId: string;
}

/** The answer to a choice on an instruction. */
export interface ChoiceAnswer {
  /** By their keys. */
  readonly values: Readonly<Record<string, ContextValue>>;
  readonly disclosed: readonly DisclosedContract[];
}

export interface FactoryAnswer extends ChoiceAnswer {
  /** Its contract id. */
  readonly factory: string;
}

export interface TransferFactoryAnswer extends FactoryAnswer {
  readonly transferKind: TransferKind;
}

/** The first page of the list, as JSON has it. */
export interface InstrumentsAnswer {
  readonly instruments: readonly JsonObject[];
}

export type AnswerTo<O extends TestOperation> = O extends "instruments"
  ? InstrumentsAnswer
  : O extends "transfer-factory"
    ? TransferFactoryAnswer
    : O extends `${string}-factory`
      ? FactoryAnswer
      : ChoiceAnswer;

/**
 * What the service answers over REST, with the total supply of instruments. Rejects with RefusedRequest; with what the
 * registry throws where that is a defect, which the service answers with 500; and with an Error for contracts that cannot be
 * read.
 */
export async function answer<O extends TestOperation>(
  registry: Registry | RegistryFile,
  contracts: TestContracts,
  request: TestRequest & { readonly operation: O },
): Promise<AnswerTo<O>> {
  // The response of an operation has its fields.
  return answerIn(await ask(asServed(registry), contracts, request)) as AnswerTo<O>;
}

/** The answer in the JSON of a response. */
export function answerIn(body: JsonObject): Partial<TransferFactoryAnswer & InstrumentsAnswer> {
  // As the service writes it.
  const { factoryId: factory, transferKind, instruments, ...choice } = body as unknown as Response;
  if (instruments !== undefined) return { instruments };
  const { choiceContextData, disclosedContracts } = choice.choiceContext ?? choice;
  return {
    ...(factory !== undefined && { factory }),
    ...(transferKind !== undefined && { transferKind }),
    values: choiceContextData?.values ?? {},
    disclosed: disclosedContracts ?? [],
  };
}

interface ResponseContext {
  readonly choiceContextData?: { readonly values: ChoiceAnswer["values"] };
  readonly disclosedContracts?: ChoiceAnswer["disclosed"];
}

interface Response extends ResponseContext, Partial<InstrumentsAnswer> {
  readonly factoryId?: string;
  readonly transferKind?: TransferKind;
  readonly choiceContext?: ResponseContext;
}

/** With the checks that the service makes of registries that are not its own. */
export const asServed = (registry: Registry | RegistryFile): Registry =>
  checkedRegistry("transferFactory" in registry ? registry : tableRegistry(registry));

/** The JSON with which the service answers a registry as it was loaded, without debug fields. Rejects as `answer`. */
export async function ask(registry: Registry, contracts: TestContracts, request: TestRequest): Promise<JsonObject> {
  const { operation } = request;
  const methods = methodsOf(operation);
  const { version = methods.v1 === undefined ? "v2" : "v1" } = request;
  const { registrar, contractId = "", choiceArguments, meta } = request;
  const method = methods[version];
  if (method === undefined) throw new Error(`${operation} is not an operation of ${version} of the token standard`);
  const respond = overRest(services(await executorOf(registry, contracts, request), SERVICE_OPTIONS), method);
  const body = { ...(choiceArguments !== undefined && { choiceArguments }), ...(meta !== undefined && { meta }) };
  return respond((read, inPath) => {
    const [ofRegistrar = "", ofContract = ""] = inPath;
    const parameters = { [ofRegistrar]: registrar, [ofContract]: contractId };
    return read(parameters, { ...body, excludeDebugFields: true });
  });
}

/** Makes the message of a request, which REST would read with the reader. `inPath` are the parameters of its route. */
type MakeMessage = (read: RequestReader, inPath: readonly string[]) => Message;

/** Calls a method as REST does, without a socket, for the JSON of the response. Rejects as `answer` does. */
export function overRest(
  bindings: readonly ServiceBinding[],
  method: DescMethod,
): (makeMessage: MakeMessage) => Promise<JsonObject> {
  const ofMethod = bindings.filter(({ service }) => service === method.parent);
  const defects: unknown[] = [];
  const called = rpcs(ofMethod, (defect) => defects.push(defect), ARGUMENT_LIMITS).find((one) => one.method === method);
  const binding = bindingOf(method);
  if (called === undefined || binding === undefined) throw new Error(`${method.name} is not served`);
  const read = requestReader(method.input, binding);
  const inPath = binding.inPath.map(({ name }) => name);
  return async (makeMessage) => {
    try {
      const message = makeMessage(read, inPath);
      const encoded = called.encode(await called.call(message), message, "json");
      return JSON.parse(toBuffer(encoded).toString()) as JsonObject;
    } catch (error) {
      if (defects.length > 0 || !(error instanceof ConnectError)) throw defects[0] ?? error;
      const { status, body } = toRestError(error, binding.route);
      const message = "error_description" in body ? body.error_description : body.error;
      throw new RefusedRequest(status, reasonOf(error).toLowerCase().replaceAll("_", "-"), message);
    }
  };
}

/** On a store that has what the ledger has. */
async function executorOf(
  registry: Registry,
  given: TestContracts,
  { at, archived = [], unread = [] }: TestRequest,
): Promise<QueryExecutor> {
  const elements = typeof given === "string" ? given : given.map((one, index) => elementOf(one, index, registry));
  const file = typeof elements === "string" ? elements : JSON.stringify(elements);
  const { contracts, offset, problems } = await parseSnapshot(
    [file],
    new Decoder(registry.templates, { countsSupply: true, keepsReadById: true }),
  );
  if (problems.length > 0) throw new Error(`the contracts cannot be read:\n${formatProblems("contracts", problems)}`);
  const created = contracts.map((contract) => (isStored(contract) ? contract.createdMicros : 0));
  const now = at === undefined ? created.reduce((a, b) => Math.max(a, b), 0) : parseLedgerTime(at);
  const store = new MemoryStore();
  const isUnread = ({ contractId, template: { isReadById = false } }: StoredContract) =>
    isReadById && unread.includes(contractId);
  await store.replace(
    contracts.filter((one) => !isStored(one) || !isUnread(one)),
    offset,
    now,
  );
  const gone = archived.map((id) => ({ archived: id }));
  await store.apply(gone, offset + 1, now);
  const freshness = { staleReason: () => undefined };
  const told = (ids: readonly string[]) => ids.filter((id) => unread.includes(id)).map((id) => [id, "unread"] as const);
  const ledger: ContractSource = { contracts: (ids) => Promise.resolve(new Map(told(ids))) };
  return new QueryExecutor(registry, store, freshness, () => Math.floor(now / 1000), undefined, ledger);
}

const DEFAULTS = { createdAt: "2026-01-01T00:00:00Z", synchronizerId: "synchronizer::1220" };

/** As a dump has it. */
export function elementOf(contract: JsonObject | ShortContract, index: number, { templates }: Registry): JsonObject {
  if (!isShort(contract)) return contract;
  const { template, contractId = `contract-${index + 1}`, payload = {}, views = {}, ...given } = contract;
  const { signatories = Object.values(views).flatMap(registrarIn) } = given;
  const { createdAt = DEFAULTS.createdAt, synchronizerId = DEFAULTS.synchronizerId } = given;
  const { packageName, qualifiedName } = template === undefined ? UNNAMED : templateNamed(template, templates);
  const event = {
    contractId,
    templateId: template?.endsWith(`:${qualifiedName}`) === true ? template : `package:${qualifiedName}`,
    packageName,
    createArgument: payload,
    createdEventBlob: "AAAA",
    createdAt,
    interfaceViews: Object.entries(views).map(([name, viewValue]) => viewOf(name, viewValue)),
    signatories: [...signatories],
    witnessParties: [...signatories],
  };
  return { contractEntry: { JsActiveContract: { synchronizerId, reassignmentCounter: 0, createdEvent: event } } };
}

/** The template of a contract that is known by its views. */
const UNNAMED = { packageName: "a-token", qualifiedName: "A.Token:Contract" };

const isShort = (contract: JsonObject | ShortContract): contract is ShortContract =>
  "template" in contract || "views" in contract;

/** The registrar is where the view of its kind and version has it. */
const registrarIn = (view: JsonObject): string[] =>
  [
    ["admin"],
    ["instrumentId", "admin"],
    ["transfer", "instrumentId", "admin"],
    ["allocation", "admin"],
    ["allocation", "transferLeg", "instrumentId", "admin"],
  ].flatMap((path) => {
    const party = valueAt(view, ...path);
    return typeof party === "string" ? party : [];
  });

function viewOf(name: string, viewValue: JsonObject): JsonObject {
  const found = TOKEN_INTERFACES.find(({ kind, version }) => name === `${kind}/${version}`);
  if (found !== undefined)
    return { interfaceId: `${found.packageId}:${found.qualifiedName}`, viewStatus: { code: 0 }, viewValue };
  const known = TOKEN_INTERFACES.map(({ kind, version }) => `${kind}/${version}`).join(", ");
  throw new Error(`view ${name} is none of the token standard's: ${known}`);
}

/** Contracts of other templates are not read from a dump; here they are a mistake. */
function templateNamed(name: string, templates: readonly Template[]): Template {
  const isEnd = name.startsWith(":") || name.startsWith(".");
  const found = templates.filter(({ qualifiedName }) =>
    isEnd ? qualifiedName.endsWith(name) : name === qualifiedName || name.endsWith(`:${qualifiedName}`),
  );
  const [only, second] = found;
  if (only !== undefined && second === undefined) return only;
  const known = templates.map(({ qualifiedName }) => qualifiedName).join(", ");
  throw new Error(`template ${name} is ${only === undefined ? "none" : "several"} of the registry's: ${known}`);
}
