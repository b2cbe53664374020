/** The service without its sockets: what REST responds and the events that it streams, in memory or on a database. */
import { setTimeout as delay } from "node:timers/promises";
import { create, fromJson, type JsonObject, type Message, toJsonString } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { WatchRequestSchema, WatchResponseSchema } from "../../gen/offledger/watch/v1/watch_pb.js";
import { QueryExecutor } from "../../src/registry/executor.js";
import type { Registry } from "../../src/registry/sdk/registry.js";
import { ChangeStreams, type ChangeStreamsOptions } from "../../src/registry/watch/change-streams.js";
import { services } from "../../src/service/services.js";
import { watch, type WatchBinding } from "../../src/service/watch.js";
import { MemoryStore } from "../../src/state/memory-store.js";
import type { ChangeFeed, StoreReader, StoreWriter } from "../../src/state/port.js";
import { PostgresWriter } from "../../src/state/postgres/writer.js";
import { JSON_WRITE_OPTIONS } from "../../src/transport/encoding/encoders.js";
import { toRestError } from "../../src/transport/errors.js";
import { type Operation, operations } from "../../src/transport/operations.js";
import { NOT_MODIFIED, recordingFor, validate } from "../../src/transport/send.js";
import { type Followed, followerOf } from "../fixtures/follower.js";
import { clock, type Schema } from "../fixtures/postgres-schema.js";
import type { Call } from "../fixtures/protocols.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";
import { VirtualClock } from "../simulation/clock.js";
import { NOW } from "../rules/model/contract-arbitraries.js";
import type { Clocks, HttpResponse, ServerSentEvent } from "./documented-client.js";
import type { DatabaseStep } from "./steps.js";

/** What a client selects when it opens a stream. */
interface WatchOptions {
  readonly registrars: readonly string[];
  readonly tags: readonly string[];
  readonly resumeToken: string;
}

interface InProcessOptions {
  readonly registry: Registry;
  readonly reader: StoreReader;
  /** Absent in a service that is only asked. */
  readonly changes?: ChangeFeed;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly countsHoldings: boolean;
  readonly streams?: Pick<ChangeStreamsOptions, "clock" | "mergeMs">;
}

const CONFIGURATION_ID = "configured";
const NO_DOCUMENT: JsonObject = {};
const { arguments: ARGUMENT_LIMITS } = TEST_SERVER_OPTIONS;

/** A defect fails the test. */
const report = (defect: unknown): never => {
  throw defect;
};

export class InProcessService {
  /** Why it may not answer; set by tests. */
  staleReason: string | undefined;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #streams: ChangeStreams | undefined;
  readonly #watch: WatchBinding | undefined;
  readonly #messages = new WeakMap<Call, Message>();

  constructor({ registry, reader, changes, now, countsHoldings, streams }: InProcessOptions) {
    const freshness = { staleReason: () => this.staleReason };
    const executor = new QueryExecutor(registry, reader, freshness, now, undefined, undefined, CONFIGURATION_ID);
    const options = { overrides: new Map(), countsHoldings, openApi: NO_DOCUMENT };
    const bindings = services(executor, { ...options, notReadyReason: () => undefined });
    this.#operations = new Map(
      operations(bindings, report, ARGUMENT_LIMITS).map((operation) => [operation.name, operation]),
    );
    if (changes === undefined) return;
    this.#streams = new ChangeStreams({
      changes,
      freshness,
      age: () => 0,
      configurationId: CONFIGURATION_ID,
      ...streams,
    });
    this.#watch = watch(this.#streams);
  }

  /** `etag` is that of a response which the client has. */
  async respond(call: Call, etag = ""): Promise<HttpResponse> {
    const { method, request, path } = call;
    const operation = this.#operations.get(`${method.parent.typeName}/${method.name}`);
    if (operation === undefined) throw new Error(`no operation ${method.name}`);
    const message = this.#messages.get(call) ?? fromJson(method.input, request);
    this.#messages.set(call, message);
    try {
      const asking = { method: "POST", headers: { "offledger-if-none-match": etag } };
      const recording = recordingFor(asking);
      let result = await operation.call(message, recording);
      for (;;) {
        const { headers, known } = validate(operation, message, result, recording, asking);
        if (known !== undefined)
          return { status: 200, headers: new Map(Object.entries({ ...headers, [NOT_MODIFIED]: "true" })), body: "{}" };
        const taken = operation.takeBodies(result, message);
        if (taken === undefined) {
          const body = operation.encode(result, message, "json").toBuffer().toString();
          return { status: 200, headers: new Map(Object.entries(headers)), body };
        }
        result = (await taken)();
      }
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error;
      const { status, body } = toRestError(error, path);
      return { status, headers: new Map(), body: JSON.stringify(body) };
    }
  }

  /** Throws ConnectError or RegistryError where the stream ends with an error. */
  async *watch(options: WatchOptions, signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
    const request = create(WatchRequestSchema, {
      ...options,
      registrars: [...options.registrars],
      tags: [...options.tags],
    });
    for await (const message of this.#watch?.watch(request, signal) ?? []) {
      const data = toJsonString(WatchResponseSchema, message, JSON_WRITE_OPTIONS);
      yield { event: message.event.case ?? "", data };
    }
  }

  close(): void {
    this.#streams?.close();
  }
}

/** A store that is written, the services that answer from it, and the time. */
export interface Deployment {
  readonly clocks: Clocks;
  /** The services of equal replicas. */
  readonly services: readonly InProcessService[];
  writer(): StoreWriter;
  /** The generation that was written last, as responses name it. */
  generation(): Promise<string>;
  /** The tags of all changes after an offset of the present generation; undefined if that is not known here. */
  changedSince(offset: number): Promise<ReadonlySet<string> | undefined>;
  /** Lets time pass, and all that happens in it. */
  pass(ms: number): Promise<void>;
  /** Resolves when no event is due any more. */
  settle(): Promise<void>;
  /** Steps of this deployment alone. */
  other?(step: DatabaseStep): Promise<void>;
  close(): Promise<void>;
}

/** Undefined if it is not known. */
function tagsSince(changes: ChangeFeed, offset: number): ReadonlySet<string> | undefined {
  const since = changes.position === undefined ? undefined : changes.since({ ...changes.position, offset });
  if (since === undefined) return undefined;
  const changed = new Set<string>();
  for (const { tags } of since) for (const tag of tags) changed.add(tag);
  return changed;
}

/** A service with its store in memory, in virtual time. */
export function inMemory(registry: Registry, countsHoldings: boolean): Deployment {
  const virtual = new VirtualClock();
  virtual.now = NOW;
  const restoreTimers = virtual.install();
  const now = () => virtual.now;
  const store = new MemoryStore();
  const { changes } = store;
  const streams = { clock: now };
  const service = new InProcessService({ registry, reader: store, changes, now, countsHoldings, streams });
  const named = () => changes.position?.generation ?? "";
  return {
    clocks: { now, elapsed: now },
    services: [service],
    writer: () => store,
    generation: async () => `${named()}.configured`,
    changedSince: async (offset) => tagsSince(changes, offset),
    pass: (ms) => virtual.advance(ms, () => undefined),
    // Changes are sent 100 ms after those before, at the latest.
    settle: () => virtual.advance(200, () => undefined),
    async close() {
      service.close();
      await virtual.advance(0, () => undefined);
      restoreTimers();
    },
  };
}

const CONTENT = { contentId: "tests", origin: "tests" };
/** Of bodies: the second keeps nearly none. */
const BODY_BYTES = [10_000_000, 8_000];
/** Timers fire in the order of their times: after this the events of a change have arrived. */
const MERGE_MS = 2;
const SETTLE_MS = 8;

interface Answering {
  readonly follower: Followed;
  readonly service: InProcessService;
}

export async function onPostgres(schema: Schema, registry: Registry, countsHoldings: boolean): Promise<Deployment> {
  await schema.empty();
  const { database } = schema;
  const { templates } = registry;
  let time = NOW;
  const now = () => time;
  const start = (index: number): Answering => {
    const reader = followerOf(database, { templates, maxBytes: BODY_BYTES[index] ?? 0 });
    const { changes } = reader.follower;
    const streams = { mergeMs: MERGE_MS };
    return {
      follower: reader,
      service: new InProcessService({ registry, reader, changes, now, countsHoldings, streams }),
    };
  };
  const begin = (epoch: number) => PostgresWriter.begin(database, epoch, CONTENT, () => undefined);
  let epoch = 0;
  let writer = await begin(epoch);
  const answering = BODY_BYTES.map((_, index) => start(index));
  /** Sees every state. */
  const observer = followerOf(database, { templates });
  const observed: StoreWriter = {
    get checkpoint() {
      return writer.checkpoint;
    },
    async replace(...args) {
      await writer.replace(...args);
      await observer.refresh();
    },
    async apply(...args) {
      await writer.apply(...args);
      await observer.refresh();
    },
  };

  const restart = async (index: number): Promise<void> => {
    answering[index]?.service.close();
    answering[index] = start(index);
    await answering[index].follower.refresh();
    await delay(SETTLE_MS);
  };
  const changeWriter = async (): Promise<void> => {
    const before = writer;
    await schema.sql("UPDATE offledger.state SET epoch = $1", [++epoch]);
    writer = await begin(epoch);
    const offset = (before.checkpoint?.offset ?? 0) + 1;
    const failure = await before.apply([], offset).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failure === undefined) throw new Error("a writer that had lost its lease has written");
  };
  return {
    clocks: { now, elapsed: clock },
    get services() {
      return answering.map(({ service }) => service);
    },
    writer: () => observed,
    async generation() {
      const [row] = await schema.sql<{ generation: string }>("SELECT generation FROM offledger.state");
      return `${row?.generation}.configured`;
    },
    changedSince: async (offset) => tagsSince(observer.follower.changes, offset),
    async pass(ms) {
      time += ms;
      await delay(1);
    },
    async settle() {
      for (const { follower } of answering) await follower.refresh();
      await delay(SETTLE_MS);
      await delay(SETTLE_MS);
    },
    async other(step: DatabaseStep) {
      if (step.does === "refresh") await answering[step.replica]?.follower.refresh();
      else if (step.does === "restart") await restart(step.replica);
      else if (step.does === "clean up") await writer.cleanUp();
      else await changeWriter();
    },
    async close() {
      for (const { service } of answering) service.close();
    },
  };
}
