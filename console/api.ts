/** Requests to the services of the operator's port, in their REST form. */
import { readToken } from "./token.js";

const BASE = "/api/offledger/v1/";
const TIMEOUT_MS = 30_000;

/** The message is a sentence for the user. */
export class ApiError extends Error {
  /** The HTTP status; 0 if there is no response. */
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.name = "ApiError";
    this.status = status;
  }
}

/** Throws ApiError; or what `signal` is aborted with. */
export const get = <T>(path: string, signal: AbortSignal): Promise<T> => send<T>(path, { method: "GET" }, signal);

/** Throws as `get`. */
export const post = <T>(path: string, body: object, signal: AbortSignal): Promise<T> =>
  send<T>(
    path,
    { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } },
    signal,
  );

/** The path of a view's request, with `value` as its last segment. */
export const pathWith = (folder: string, value: string): string => `${folder}/${encodeURIComponent(value)}`;

async function send<T>(path: string, init: RequestInit, signal: AbortSignal): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  const timeout = `no answer within ${TIMEOUT_MS / 1_000} seconds`;
  const timer = setTimeout(() => controller.abort(new ApiError(0, timeout)), TIMEOUT_MS);
  try {
    const token = readToken();
    const headers = { ...(init.headers as Record<string, string> | undefined), accept: "application/json" };
    const authorized = token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` };
    const request = { ...init, headers: authorized, signal: controller.signal, cache: "no-store" } as const;
    const response = await fetch(BASE + path, request);
    const text = await response.text();
    if (!response.ok) throw new ApiError(response.status, sentenceOf(text) ?? `HTTP status ${response.status}`);
    return JSON.parse(text) as T;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) throw error;
    // The reasons of fetch are different in each browser, and name no cause.
    throw new ApiError(0, "the service does not answer, or its answer cannot be read");
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** The sentence in the body of an error. */
function sentenceOf(text: string): string | undefined {
  try {
    const body = JSON.parse(text) as { error?: unknown; error_description?: unknown; message?: unknown } | null;
    const sentence = body?.error_description ?? body?.error ?? body?.message;
    return typeof sentence === "string" && sentence !== "" ? sentence : undefined;
  } catch {
    return undefined;
  }
}
