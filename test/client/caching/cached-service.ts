/** A registry on a scripted ledger, the service on it, and caches of the client on that, with what they send. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ConnectError, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import type { GetTransferFactoryRequestSchema } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { WatchService } from "../../../gen/offledger/watch/v1/watch_service_pb.js";
import {
  type CachedRegistry,
  type CacheOptions,
  createCachedRegistry,
} from "../../../packages/client/src/cache/cached-registry.js";
import { createDefaultTransport } from "../../../packages/client/src/cache/default-transport.js";
import type { WatchEvent } from "../../../packages/client/src/cache/change-stream.js";
import { creationsOf } from "../../scripted-participant/elements.js";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Participant } from "../../scripted-participant/participant.js";
import { startApp } from "../../../src/app/app.js";
import type { JsonObject } from "../../../src/util/json.js";
import { element, type Options, parties, payload, requirement, type Template } from "../../fixtures/elements.js";
import { quiet } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";
import { scrape, valueOf } from "../../telemetry/starting.js";

/** The registrar of the contracts, and of the requests unless they name another. */
export const { registrar } = parties;
export const OTHER_REGISTRAR = "other-registrar::1220";
/** What USD requires of its holders and issuers. */
export const CLAIM = "isHolderOf=USD";

/** Creates a contract in an update of its own. */
export function create(
  ledger: ScriptedLedger,
  template: Template,
  id: string,
  argument: JsonObject,
  options: Options = {},
): void {
  // The operator sees all contracts.
  const signed = element(template, id, argument, options);
  const [creation] = creationsOf([signed]);
  if (creation === undefined) throw new Error("an element must give a contract");
  ledger.transact([{ create: { ...creation, signatories: [parties.operator] } }]);
}

/** A ledger on which USD can be transferred: holders need a credential. */
export function createLedger(): ScriptedLedger {
  const ledger = new ScriptedLedger();
  create(ledger, "AllocationFactory", "factory", payload.service());
  const requirements = [requirement([CLAIM])];
  const required = { holderRequirements: requirements, issuerRequirements: requirements };
  create(ledger, "InstrumentConfiguration", "usd", payload.configuration("USD", required));
  create(ledger, "Credential", "credential of alice", payload.credential("alice", [CLAIM]));
  return ledger;
}

/** Replaces the factory: every response that discloses it is another one. */
export function replaceFactory(ledger: ScriptedLedger, archived: string, id: string): void {
  ledger.transact([{ archive: archived }]);
  create(ledger, "AllocationFactory", id, payload.service());
}

/** A transfer from one party to another. */
export const transfer = (
  sender: string,
  receiver: string,
  registrarParty: string = registrar,
): MessageInitShape<typeof GetTransferFactoryRequestSchema> => ({
  registrarParty,
  typedArguments: {
    case: "transferV2",
    value: {
      transfer: {
        sender: { owner: sender },
        receiver: { owner: receiver },
        amount: "10.0",
        instrumentId: { admin: registrarParty, id: "USD" },
      },
      actors: [sender],
    },
  },
});

export interface TestService {
  readonly url: string;
  /** The number of open streams of changes, by the metrics of the service. */
  openStreams(): Promise<number | undefined>;
  close(): Promise<void>;
}

/** `now` is the time of the service. */
export async function startService(ledger: ScriptedLedger, now: () => number = Date.now): Promise<TestService> {
  const participant = await Participant.start({ ledger, checkpointMs: 20 });
  // Tests set the time of the service forward, which must not make its contracts stale.
  const freshness = { unreadySeconds: 100_000, staleSeconds: 100_000 };
  const ledgerSettings = { ledgerUrl: new URL(participant.url), ledgerParties: [parties.operator] };
  const app = await startApp(
    { ...quiet(), ...ledgerSettings, ...freshness, metricsPort: { host: "127.0.0.1", port: 0 }, graceSeconds: 2 },
    now,
  );
  await until("the service is ready", async () => (await fetch(`${app.url}/readyz`)).ok);
  return {
    url: app.url,
    openStreams: async () => valueOf((await scrape(app.metricsUrl)).samples, "offledger_watch_streams"),
    async close() {
      await app.close();
      await participant.stop();
    },
  };
}

/** A unary request that has arrived at the transport. */
export interface Sent {
  readonly method: string;
  /** The header of a conditional request. */
  readonly condition: string | null;
  readonly signal: AbortSignal;
}

/** Delays of requests, and of events and responses that have arrived. */
type Delays = Partial<Record<"beforeRequest" | "beforeEvent" | "beforeResponse", () => Promise<void>>>;

export interface TestRegistryOptions extends CacheOptions, Delays {
  /** Where the stream of changes is opened; default as `url`. */
  readonly streamUrl?: string;
  /** Default: that of the client, by `fetch`. */
  readonly createTransport?: (baseUrl: string, interceptors: Interceptor[]) => Transport;
}

interface ReceivedEvent extends WatchEvent {
  /** Counted from 1. */
  readonly stream: number;
}

interface TestRegistry extends CachedRegistry {
  readonly sent: readonly Sent[];
  /** The number of responses that have arrived. */
  readonly arrived: number;
  readonly events: readonly ReceivedEvent[];
  /** The tokens with which streams were opened. */
  readonly opened: readonly string[];
  readonly disconnects: readonly ConnectError[];
}

const byFetch = (baseUrl: string, interceptors: Interceptor[]): Transport =>
  createDefaultTransport(baseUrl, { interceptors });

/** Creates a registry as `cachedRegistry` of the package does, and waits for the first event. */
export async function openRegistry(url: string, options: TestRegistryOptions = {}): Promise<TestRegistry> {
  const { streamUrl = url, createTransport = byFetch, registrars = [] } = options;
  const sent: Sent[] = [];
  let arrived = 0;
  const events: ReceivedEvent[] = [];
  const opened: string[] = [];
  const disconnects: ConnectError[] = [];
  const record: Interceptor = (next) => async (request) => {
    if (request.stream) return next(request);
    const { method, header, signal } = request;
    sent.push({ method: method.name, condition: header.get("offledger-if-none-match"), signal });
    await options.beforeRequest?.();
    const response = await next(request);
    arrived++;
    await options.beforeResponse?.();
    return response;
  };
  const { watch } = createClient(WatchService, createTransport(streamUrl, []));
  async function* open(resumeToken: string, signal: AbortSignal): AsyncIterable<WatchEvent> {
    opened.push(resumeToken);
    for await (const event of watch({ registrars: [...registrars], resumeToken }, { signal, timeoutMs: 0 })) {
      const stream = opened.length;
      await options.beforeEvent?.();
      events.push({ ...event, stream });
      yield event;
    }
  }
  const onDisconnect = (reason: ConnectError): void => void disconnects.push(reason);
  const registry = createCachedRegistry(createTransport(url, [record]), open, { ...options, onDisconnect });
  await until("the stream has sent an event", () => registry.isLive);
  return {
    client: (service) => registry.client(service),
    get isLive() {
      return registry.isLive;
    },
    statistics: () => registry.statistics(),
    close: () => registry.close(),
    sent,
    events,
    opened,
    disconnects,
    get arrived() {
      return arrived;
    },
  };
}

/** Waits until the registry has handled the latest update of the ledger, which must be a change, on a stream. */
export const handled = (registry: TestRegistry, ledger: ScriptedLedger, stream = 1): Promise<void> =>
  until("the change is handled", () =>
    registry.events.some((one) => one.stream >= stream && one.offset >= ledger.lastUpdate),
  );
