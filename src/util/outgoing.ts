/**
 * The HTTP requests that this service makes: through a proxy where the environment names one, and bounded whatever answers.
 * Node.js 20 does not honour HTTPS_PROXY, and no release for WebSockets: `ws` takes the same agent, and none of undici.
 * https-proxy-agent waits for ever for a proxy that does not answer.
 */
import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { HttpProxyAgent, HttpsProxyAgent } from "hpagent";
import { getProxyForUrl } from "proxy-from-env";
import { isTooDeep, MAX_NESTING } from "./json.js";
import { displayUrl } from "./urls.js";

export interface HttpRequest {
  readonly method: "GET" | "POST";
  /** Root certificates in PEM; undefined for those that Node.js trusts. */
  readonly ca?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Of the answer. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends one request and resolves with the whole answer. Redirects are not followed: a token is for one host. */
export function sendRequest(
  url: URL,
  { method, ca, headers, body, maxBytes, signal }: HttpRequest,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const options = { method, headers, signal, agent: proxyAgent(url) };
    const request = isSecure(url) ? requestHttps(url, { ...options, ca }) : requestHttp(url, options);
    request.on("error", reject);
    // A request that waits for the tunnel of a proxy does not tell that it was aborted.
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    request.on("response", (response) => {
      readText(response, maxBytes).then(
        (text) => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        (error: unknown) => {
          request.destroy();
          reject(error);
        },
      );
    });
    request.end(body);
  });
}

/** The body of an answer. Rejects if it is larger, or cut. */
export function readText(response: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    response.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) response.destroy(new Error(`the response exceeds ${maxBytes} bytes`));
      else chunks.push(chunk);
    });
    response.on("error", reject);
    response.on("end", () => resolve(Buffer.concat(chunks).toString()));
  });
}

const isSecure = ({ protocol }: URL): boolean => protocol === "https:" || protocol === "wss:";

/** The longest wait for a proxy, and how long an unused connection is kept. */
const PROXY_MS = 10_000;

/** By protocol and proxy: the environment names two at most. */
const agents = new Map<string, Agent>();

/**
 * Connects to the host of a URL of http, https, ws or wss through the proxy of HTTPS_PROXY or HTTP_PROXY, unless NO_PROXY has
 * the host: by a tunnel (CONNECT), so that the proxy sees no token. Undefined without a proxy. Throws an Error if that is not
 * the URL of one.
 */
export function proxyAgent(url: URL): Agent | undefined {
  const proxy = proxyFor(url);
  if (proxy === undefined) return undefined;
  const key = `${isSecure(url)} ${proxy.href}`;
  let agent = agents.get(key);
  if (agent === undefined) {
    const options = { proxy, keepAlive: true, timeout: PROXY_MS };
    agent = isSecure(url) ? new HttpsProxyAgent(options) : new HttpProxyAgent(options);
    agents.set(key, agent);
  }
  return agent;
}

/** For messages, after the name of the host: the proxy, without its credentials. Empty without one. */
export function byWayOf(url: URL): string {
  try {
    const proxy = proxyFor(url);
    return proxy === undefined ? "" : ` through the proxy ${proxy.origin}`;
  } catch {
    return "";
  }
}

/** Read at each connection, for the library reads the environment. */
function proxyFor(url: URL): URL | undefined {
  const http = new URL(url);
  http.protocol = isSecure(url) ? "https:" : "http:";
  const proxy = getProxyForUrl(http.href);
  if (proxy === "") return undefined;
  if (URL.canParse(proxy)) {
    const parsed = new URL(proxy);
    const isText = [parsed.username, parsed.password].every((part) => !/%(?![\da-f]{2})/i.test(part));
    if (isText && (parsed.protocol === "http:" || parsed.protocol === "https:")) return parsed;
  }
  // The value may have a password.
  throw new Error(
    "the proxy of the environment is not an http or https URL: check HTTPS_PROXY and HTTP_PROXY, and encode special characters of a password",
  );
}

const MAX_RETRY_MS = 60_000;

/**
 * The milliseconds that a Retry-After asks for, at most a minute; undefined without a valid one. A date counts from the Date
 * of the same answer, so that no clock has to be right.
 */
export function retryAfterMs({ "retry-after": value, date }: IncomingHttpHeaders): number | undefined {
  if (value === undefined) return undefined;
  const now = Date.parse(date ?? "");
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - (Number.isNaN(now) ? Date.now() : now);
  return ms > 0 ? Math.min(ms, MAX_RETRY_MS) : undefined;
}

/**
 * What an answer is that is no JSON of an API, for messages: `a redirect to …`, without credentials and query, or `a page of
 * HTML, "its title"`. Undefined for any other.
 */
export function foreignAnswer({ status, headers, text }: HttpResponse, url: URL): string | undefined {
  const { location, "content-type": type = "" } = headers;
  if (status >= 300 && status < 400)
    return `a redirect${location === undefined ? "" : ` to ${displayed(location, url)}`}`;
  const head = text.slice(0, MAX_HEAD);
  if (!/^text\/html\b/i.test(type) && !/^\s*<(?:!doctype html|html)\b/i.test(head)) return undefined;
  const [, title = ""] = /<title[^>]*>([^<]*)/i.exec(head) ?? [];
  const shown = title.replaceAll(/[\s\p{C}]+/gu, " ").trim();
  return `a page of HTML${shown === "" || shown.length > MAX_TITLE ? "" : `, "${shown}"`}`;
}

const MAX_HEAD = 4_096;
const MAX_TITLE = 100;
const MAX_SHOWN = 300;

/** Origin and path of a Location. */
function displayed(location: string, base: URL): string {
  if (!URL.canParse(location, base.href)) return "what is no URL";
  const to = new URL(location, base);
  return /^(?:https?|wss?):$/.test(to.protocol) ? displayUrl(to).slice(0, MAX_SHOWN) : `a URL of ${to.protocol}`;
}

/** Why the text of an answer is not read as JSON, for messages: `is …`. */
export function unreadableAnswer(response: HttpResponse, url: URL): string {
  const foreign = foreignAnswer(response, url);
  if (foreign !== undefined) return `is ${foreign}, not JSON (status ${response.status})`;
  return isTooDeep(response.text) ? `is nested deeper than ${MAX_NESTING} objects and lists` : "is not JSON";
}
