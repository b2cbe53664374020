/** The registry under test: its operations as requests, and what is known of it. */
import type { Operation } from "./documents.js";
import type { Json } from "./json.js";
import type { Exchange, Prober } from "./prober.js";

/** What the caller knows of the registry. What is missing skips the checks that need it. */
export interface Known {
  /** The party whose instruments are checked. */
  readonly registrar: string | undefined;
  /** Whether the registrar was given; else it is what the registry says of itself. */
  readonly isRegistrarGiven: boolean;
  /** Those that are transferred and allocated. */
  readonly instruments: readonly string[];
  readonly sender: string | undefined;
  readonly receiver: string | undefined;
  /** Contract ids of holdings of the sender. */
  readonly holdings: readonly string[];
  /** A transfer instruction that waits for its receiver. */
  readonly offer: string | undefined;
  /** An allocation that waits for its settlement. */
  readonly allocation: string | undefined;
  /** An allocation instruction that waits. */
  readonly allocationInstruction: string | undefined;
  /** The URL of another replica of the same registry. */
  readonly replica: string | undefined;
  /** Whether wrong requests are sent too. */
  readonly negative: boolean;
}

interface Call {
  /** Values of the fields in braces. */
  readonly ids?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether a POST has no body and no content type. */
  readonly isEmpty?: boolean;
  /** A body that is no JSON. */
  readonly text?: string;
}

export class Registry {
  readonly known: Known;
  /** Without a slash at its end: `/registry/…` follows. */
  readonly base: string;
  readonly operations: readonly Operation[];
  readonly #prober: Prober;
  readonly #remembered = new Map<string, Promise<unknown>>();

  constructor(prober: Prober, base: string, operations: readonly Operation[], known: Known) {
    this.#prober = prober;
    this.base = base;
    this.operations = operations;
    this.known = known;
  }

  /** The same, about which nothing is remembered. */
  afresh(): Registry {
    return new Registry(this.#prober, this.base, this.operations, this.known);
  }

  /** The same of another replica. Undefined if none is known. */
  replica(): Registry | undefined {
    const { replica } = this.known;
    return replica === undefined
      ? undefined
      : new Registry(this.#prober, replica, this.operations, { ...this.known, replica: undefined });
  }

  /** What several checks ask for, asked for once. */
  once<T>(what: string, ask: () => Promise<T>): Promise<T> {
    const remembered = this.#remembered.get(what) as Promise<T> | undefined;
    if (remembered !== undefined) return remembered;
    const asked = ask();
    this.#remembered.set(what, asked);
    return asked;
  }

  operation(api: string, id: string): Operation {
    const found = this.operations.find((one) => one.api === api && one.id === id);
    if (found === undefined) throw new Error(`${api} has no operation ${id}`);
    return found;
  }

  call(
    { method, path }: Operation,
    { ids = {}, query = {}, body = {}, headers = {}, isEmpty = false, text }: Call = {},
  ): Promise<Exchange> {
    const filled = pathOf(path, ids);
    const search = new URLSearchParams(query).toString();
    const hasBody = method === "POST" && !isEmpty;
    return this.#prober.send({
      method,
      url: `${this.base}${filled}${search === "" ? "" : `?${search}`}`,
      headers: { accept: "application/json", ...(hasBody && { "content-type": "application/json" }), ...headers },
      ...(hasBody && { body: text ?? JSON.stringify(body) }),
    });
  }

  /** A request that no document describes, such as a preflight. */
  send(method: string, path: string, headers: Readonly<Record<string, string>>): Promise<Exchange> {
    return this.#prober.send({ method, url: this.base + path, headers });
  }

  /** GET of a whole URL. */
  sendTo(url: string): Promise<Exchange> {
    return this.#prober.send({ method: "GET", url, headers: { accept: "application/json" } });
  }
}

/** A path with the values of its fields, escaped. */
const pathOf = (path: string, ids: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? ""));
