/** Sends requests to a registry that is not ours: slowly, one at a time, with bounds. */
import { setTimeout as pause } from "node:timers/promises";
import type { Json } from "./json.js";

export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Exchange {
  readonly sent: Sent;
  /** 0 if there was no answer; then `text` says why. */
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined if the text is no JSON. */
  readonly json: Json | undefined;
  readonly ms: number;
}

export interface ProberOptions {
  /** Sent with each request: how the registry lets callers in. */
  readonly headers: Readonly<Record<string, string>>;
  /** Requests in a second at most. */
  readonly rate: number;
}

const ANSWER_MS = 30_000;
const MAX_BYTES = 16 * 1024 * 1024;
/** How often a 429 is waited for, and how long at most each time. */
const MAX_WAITS = 3;
const MAX_WAIT_MS = 60_000;

export class Prober {
  readonly answers: { readonly url: string; readonly status: number }[] = [];
  readonly #options: ProberOptions;
  #next = 0;

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  async send(sent: Sent): Promise<Exchange> {
    for (let waits = 0; ; waits++) {
      await this.#turn();
      const exchange = await this.#exchange({ ...sent, headers: { ...this.#options.headers, ...sent.headers } });
      if (exchange.status !== 429 || waits === MAX_WAITS) {
        this.answers.push({ url: sent.url, status: exchange.status });
        return exchange;
      }
      const seconds = Number(exchange.headers.get("retry-after") ?? "1");
      await pause(Math.min(Number.isFinite(seconds) ? Math.max(1, seconds) * 1_000 : 1_000, MAX_WAIT_MS));
    }
  }

  async #turn(): Promise<void> {
    const now = Date.now();
    const at = Math.max(now, this.#next);
    this.#next = at + 1_000 / this.#options.rate;
    if (at > now) await pause(at - now);
  }

  async #exchange(sent: Sent): Promise<Exchange> {
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(new Error(`no answer within ${ANSWER_MS / 1_000} s`)), ANSWER_MS);
    const begun = performance.now();
    try {
      const { method, url, headers, body } = sent;
      const response = await fetch(url, {
        method,
        headers,
        ...(body !== undefined && { body }),
        redirect: "manual",
        signal: end.signal,
      });
      const text = await textWithin(response, MAX_BYTES);
      return {
        sent,
        status: response.status,
        headers: response.headers,
        text,
        json: parse(text),
        ms: performance.now() - begun,
      };
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const text = cause instanceof Error ? cause.message : String(cause);
      return { sent, status: 0, headers: new Headers(), text, json: undefined, ms: performance.now() - begun };
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Rejects if the body is longer. */
async function textWithin(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  if (response.body !== null)
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Error(`the body is longer than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  return Buffer.concat(chunks).toString();
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The headers that this program sends by itself: what the caller gives may be a secret by any name. */
const SHOWN = /^(?:accept|content-type|origin|access-control-[\w-]+)$/;

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The request as a line for a shell. */
export function curlOf({ method, url, headers, body }: Sent): string {
  const shown = Object.entries(headers).map(
    ([name, value]) => `-H ${quoted(`${name}: ${SHOWN.test(name) ? value : "…"}`)}`,
  );
  return [
    "curl",
    ...(method === "GET" ? [] : ["-X", method]),
    ...shown,
    ...(body === undefined ? [] : ["-d", quoted(body)]),
    quoted(url),
  ].join(" ");
}

const MAX_SHOWN = 500;

/** What came, shortened, without blobs. */
export function answerOf({ status, text }: Exchange): string {
  const without = text.replaceAll(/("createdEventBlob"\s*:\s*")[^"]{12,}"/g, '$1…"');
  const shown = without.length > MAX_SHOWN ? `${without.slice(0, MAX_SHOWN)}…` : without;
  return status === 0 ? shown : `${status} ${shown}`;
}
