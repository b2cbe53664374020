/** Recorded flows on a real ledger, answered again on a store that is moved through its updates, at the ledger's time. */
import { loadRegistry } from "../../src/app/registry.js";
import { type Change, isStored } from "../../src/domain/contract.js";
import type { OnLedger } from "../../src/domain/ledger.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import type { Template } from "../../src/domain/template.js";
import { Decoder } from "../../src/ledger/decode.js";
import { QueryExecutor } from "../../src/service/executor.js";
import type { ServiceBinding } from "../../src/service/service-binding.js";
import { services } from "../../src/service/services.js";
import { MemoryStore } from "../../src/state/memory-store.js";
import type { StoreReader } from "../../src/state/port.js";
import { overRest, RefusedRequest } from "../../src/testing/answer.js";
import { servedBindings } from "../../src/transport/rest/bindings.js";
import { partsOf } from "../fixtures/rules.js";
import { quiet } from "../fixtures/run-service.js";
import { rpcs } from "../fixtures/services.js";
import { type CreatedEvent, read } from "./recordings.js";

/** A contract that any party of the recording saw. */
export interface RecordedContract {
  readonly createdEvent: CreatedEvent & {
    readonly createdEventBlob: string;
    readonly signatories: readonly string[];
    readonly observers: readonly string[];
  };
  readonly synchronizerId: string;
  readonly createdAtOffset: number;
  /** Absent for a contract that is active at the end of the recording. */
  readonly archivedAtOffset?: number;
}

/** A request, the answer that was given to it, and what the ledger said to a command with that answer. */
export interface Flow {
  readonly set: string;
  readonly name: string;
  /** The ledger's end at that time. */
  readonly askedAt: number;
  /** The time of the request, if it was recorded. */
  readonly time?: string;
  readonly request: { readonly method: "POST"; readonly path: string; readonly body?: JsonObject };
  readonly status: number;
  readonly answer: JsonValue;
  readonly outcome: "accepted" | "prepared" | "rejected by the ledger" | "not asked: refused by the service";
}

export interface LedgerRecording {
  readonly parties: Readonly<Record<string, string>>;
  readonly contracts: readonly RecordedContract[];
  readonly flows: readonly Flow[];
}

/** Flows with the packages of Registry App 0.12. */
export const utilityLedger = (): LedgerRecording => read("utility-0.12-ledger.json") as LedgerRecording;

/** A participant shows a party the contracts whose stakeholder it is. */
export const isStakeholder = (parties: readonly string[], { createdEvent }: RecordedContract): boolean =>
  [...createdEvent.signatories, ...createdEvent.observers].some((party) => parties.includes(party));

export const isActive = ({ createdAtOffset, archivedAtOffset = Infinity }: RecordedContract, offset: number): boolean =>
  createdAtOffset <= offset && offset < archivedAtOffset;

/** The ledger time of the latest contract at an offset, in milliseconds since 1970: the recording has no other clock. */
export const timeAt = (contracts: readonly RecordedContract[], offset: number): number =>
  Math.max(
    ...contracts
      .filter(({ createdAtOffset }) => createdAtOffset <= offset)
      .map(({ createdEvent }) => Date.parse(createdEvent.createdAt)),
  );

export interface Update {
  readonly offset: number;
  readonly changes: readonly Change[];
}

/** What a mirror that sees these contracts receives, by ascending offset. */
function updatesOf(contracts: readonly RecordedContract[], templates: readonly Template[]): Update[] {
  const decoder = new Decoder(templates);
  const changes = new Map<number, Change[]>();
  const add = (offset: number, change: Change) => changes.set(offset, [...(changes.get(offset) ?? []), change]);
  for (const { createdEvent, synchronizerId, createdAtOffset, archivedAtOffset } of contracts) {
    const active = decoder.decodeCreatedEvent(createdEvent, synchronizerId, 0);
    if (active !== undefined) add(createdAtOffset, { active });
    if (archivedAtOffset !== undefined) add(archivedAtOffset, { archived: createdEvent.contractId });
  }
  return [...changes].map(([offset, of]) => ({ offset, changes: of })).toSorted((a, b) => a.offset - b.offset);
}

/** What a participant tells of contracts by their ids at an offset, to a mirror that sees these. */
function toldOf(
  contracts: readonly RecordedContract[],
  templates: readonly Template[],
  ids: readonly string[],
  offset: number,
): ReadonlyMap<string, OnLedger> {
  const decoder = new Decoder(templates, { keepsOptional: true });
  const found = new Map<string, OnLedger>();
  for (const contract of contracts) {
    const { createdEvent, synchronizerId } = contract;
    const { contractId } = createdEvent;
    if (!ids.includes(contractId) || contract.createdAtOffset > offset) continue;
    const decoded = decoder.decodeCreatedEvent(createdEvent, synchronizerId, 0);
    if (decoded !== undefined && isStored(decoded))
      found.set(contractId, isActive(contract, offset) ? decoded : "archived");
  }
  return found;
}

export interface Replied {
  readonly status: number;
  readonly body: JsonValue;
}

const utility = await loadRegistry(quiet());

/** Asks the flows one after the other, each in its state. `contracts` are those that the mirror sees. */
export async function replies(
  flows: readonly Flow[],
  contracts: readonly RecordedContract[],
  registry = utility,
  readerOf: (store: MemoryStore) => StoreReader = (store) => store,
): Promise<ReadonlyMap<Flow, Replied>> {
  const store = new MemoryStore();
  let [now, offset, next] = [0, 0, 0];
  const freshness = { staleReason: () => undefined };
  const readById = registry.readById?.templates ?? [];
  const ledger = { contracts: (ids: readonly string[]) => Promise.resolve(toldOf(contracts, readById, ids, offset)) };
  const executor = new QueryExecutor(registry, readerOf(store), freshness, () => now, undefined, ledger);
  const options = { overrides: new Map(), countsHoldings: false, openApi: {}, notReadyReason: () => undefined };
  const bindings = services(executor, options);
  const updates = updatesOf(contracts, registry.templates);
  const answers = new Map<Flow, Replied>();
  await store.replace([], 0);
  for (const flow of flows) {
    for (; (updates[next]?.offset ?? Infinity) <= flow.askedAt; next++)
      await store.apply(updates[next]?.changes ?? [], updates[next]?.offset ?? 0);
    now = flow.time === undefined ? timeAt(contracts, flow.askedAt) : Date.parse(flow.time);
    offset = flow.askedAt;
    answers.set(flow, await ask(bindings, flow));
  }
  return answers;
}

const routes = rpcs.flatMap((method) =>
  servedBindings(method, undefined).map(({ route }) => ({
    method,
    pattern: new RegExp(`^${route.replaceAll(/:\w+/g, "[^/]+")}$`),
  })),
);

/** As REST answers, without a socket. */
async function ask(bindings: readonly ServiceBinding[], { request: { path, body = {} } }: Flow): Promise<Replied> {
  const method = routes.find(({ pattern }) => pattern.test(path))?.method;
  if (method === undefined) throw new Error(`no operation has the path ${path}`);
  try {
    const parts = partsOf({ method, path, body, request: {} });
    return { status: 200, body: await overRest(bindings, method)((reader) => reader(...parts)) };
  } catch (error) {
    if (!(error instanceof RefusedRequest)) throw error;
    return { status: error.status, body: error.message };
  }
}
