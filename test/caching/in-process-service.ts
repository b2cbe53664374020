/** The service without its sockets: what REST responds, and the events that it streams, from a store of this process. */
import { alreadyCaughtUp } from "../../src/domain/ledger.js";
import { create, fromJson, type JsonObject, type Message, toJsonString } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { WatchRequestSchema, WatchResponseSchema } from "../../gen/offledger/watch/v1/watch_pb.js";
import { QueryExecutor } from "../../src/registry/executor.js";
import type { Registry } from "../../src/registry/sdk/registry.js";
import { ChangeStreams, type ChangeStreamsOptions } from "../../src/registry/watch/change-streams.js";
import { services } from "../../src/service/services.js";
import { watch, type WatchBinding } from "../../src/service/watch.js";
import type { ChangeFeed, StoreReader } from "../../src/store/port.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";
import { JSON_WRITE_OPTIONS } from "../../src/transport/encoding/encodable-response.js";
import { toRestError } from "../../src/transport/errors.js";
import { NOT_MODIFIED, recordingFor, shortForm, validatorsOf } from "../../src/transport/validators.js";
import { type Operation, operations } from "../../src/transport/operations.js";
import type { Call } from "../fixtures/protocols.js";
import type { HttpResponse, ServerSentEvent } from "./documented-client.js";

/** What a client selects when it opens a stream. */
export interface WatchOptions {
  readonly registrars: readonly string[];
  readonly tags: readonly string[];
  readonly resumeToken: string;
}

export interface InProcessOptions {
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
    const freshness = { staleReason: () => this.staleReason, catchUp: alreadyCaughtUp };
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
      const response = await operation.call(message, recording);
      const validators = validatorsOf(response, recording);
      const headers = new Map(Object.entries(validators));
      if (shortForm(asking, validators) !== undefined)
        return { status: 200, headers: headers.set(NOT_MODIFIED, "true"), body: "{}" };
      const json = response.json();
      const bytes = Buffer.alloc(json.length);
      json.write(bytes, 0);
      return { status: 200, headers, body: bytes.toString() };
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
