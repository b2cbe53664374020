import {
  create,
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type Message,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import type { ContextValues, Transport, UnaryResponse } from "@connectrpc/connect";
import { copyOf } from "./copy.js";
import type { ResponseKeeper } from "./response-keeper.js";
import { SharedRequests, throwIfAborted } from "./shared-requests.js";

const IF_NONE_MATCH = "offledger-if-none-match";
/** Asks for the validators, without a response. */
const NO_ETAG = '""';
const NOT_MODIFIED = "offledger-not-modified";

export interface CachingOptions {
  readonly transport: Transport;
  readonly keeper: ResponseKeeper;
  /** The registrars whose changes the stream has; empty for all. */
  readonly registrars: ReadonlySet<string>;
  readonly clock: () => number;
}

interface Call<I extends DescMessage, O extends DescMessage> {
  readonly method: DescMethodUnary<I, O>;
  readonly key: string;
  /** The request. Its message may change while an interceptor waits, which must not give another answer to the key. */
  readonly bytes: Uint8Array;
  readonly mayKeep: boolean;
  readonly timeoutMs: number | undefined;
  readonly header: Headers;
  readonly contextValues: ContextValues | undefined;
}

/** A transport that answers unary calls from the cache where it may. Streams pass through. */
export class CachingTransport implements Transport {
  readonly #options: CachingOptions;
  readonly #requests: SharedRequests<UnaryResponse>;
  #unshared = 0;

  constructor(options: CachingOptions) {
    this.#options = options;
    this.#requests = new SharedRequests(options.clock);
  }

  readonly stream: Transport["stream"] = (...call) => this.#options.transport.stream(...call);

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: ConstructorParameters<typeof Headers>[0],
    input: MessageInitShape<I>,
    contextValues?: ContextValues,
  ): Promise<UnaryResponse<I, O>> {
    throwIfAborted(signal);
    const { keeper, registrars, transport } = this.#options;
    const request = create(method.input, input);
    const bytes = toBinary(method.input, request);
    const key = `${method.parent.typeName}/${method.name} ${base64Encode(bytes)}`;
    const found = keeper.find(key);
    if (found !== undefined) {
      keeper.counters.hits++;
      return copy(found);
    }
    keeper.counters.misses++;
    const headers = new Headers(header);
    // The caller has a response of its own.
    if (headers.has(IF_NONE_MATCH)) {
      return transport.unary(method, signal, timeoutMs, headers, input, contextValues);
    }
    const registrar = registrars.size === 0 ? undefined : registrarOf(request);
    const mayKeep = registrars.size === 0 || (registrar !== undefined && registrars.has(registrar));
    const call: Call<I, O> = { method, key, bytes, mayKeep, timeoutMs, header: headers, contextValues };
    const send = (shared: AbortSignal): Promise<UnaryResponse> => this.#send(call, shared);
    return copy(await this.#requests.get(this.#sharedKey(call), send, { signal, timeoutMs }));
  }

  /** Asks the service for a response with its validators, or whether the one to the same request still holds. */
  async #send<I extends DescMessage, O extends DescMessage>(
    { method, key, bytes, mayKeep, timeoutMs, header, contextValues }: Call<I, O>,
    signal: AbortSignal,
  ): Promise<UnaryResponse> {
    const { keeper, transport, clock } = this.#options;
    const before = keeper.findEntry(key);
    const headers = new Headers(header);
    headers.set(IF_NONE_MATCH, before?.etag ?? NO_ETAG);
    // Each caller waits for as long as it wants. The transport's own timeout is used by those who name none.
    const noTimeout = timeoutMs === undefined ? undefined : 0;
    const sentAt = clock();
    const response = await transport.unary(
      method,
      signal,
      noTimeout,
      headers,
      fromBinary(method.input, bytes) as MessageInitShape<I>,
      contextValues,
    );
    const isUnchanged = before !== undefined && response.header.get(NOT_MODIFIED) === "true";
    const complete = isUnchanged
      ? { ...response, header: withoutMark(response.header), message: before.response.message }
      : response;
    keeper.put(key, complete, sentAt, mayKeep, isUnchanged ? before : undefined);
    return complete;
  }

  /** Calls share a request if the service gets the same, and no change has been reported since it was sent. */
  #sharedKey({ key, header, timeoutMs, contextValues }: Call<DescMessage, DescMessage>): string {
    // Interceptors may send anything that the context values of a call say.
    const call = contextValues === undefined ? 0 : ++this.#unshared;
    const hasTimeout = timeoutMs !== undefined;
    return JSON.stringify([key, this.#options.keeper.changes, [...header], hasTimeout, call]);
  }
}

/** Callers may change their message. They share the headers. The key of the response names the method. */
function copy<I extends DescMessage, O extends DescMessage>(response: UnaryResponse): UnaryResponse<I, O> {
  return { ...response, message: copyOf(response.message) } as UnaryResponse<I, O>;
}

/** The message is complete again. */
function withoutMark(header: Headers): Headers {
  const headers = new Headers(header);
  headers.delete(NOT_MODIFIED);
  return headers;
}

/** The fields of requests that name a registrar. */
interface RegistrarFields {
  readonly registrarParty?: unknown;
  readonly registrar?: unknown;
  readonly instrumentId?: { readonly admin?: unknown } | undefined;
}

/** The registrar that a request names. Undefined if it names none: the response may rest on contracts of all registrars. */
function registrarOf(request: Message): string | undefined {
  const { registrarParty, registrar, instrumentId } = request as Message & RegistrarFields;
  const named = registrarParty ?? registrar ?? instrumentId?.admin;
  return typeof named === "string" ? named : undefined;
}
