/** Fetches a JWK set (RFC 7517) within a time and a size. */
import type { JSONWebKeySet } from "jose";
import { abortAfter } from "../util/abort-after.js";

export interface ResponseLimits {
  /** Longest wait for a complete response. */
  readonly responseMs: number;
  readonly maxBytes: number;
}

const REQUEST = { redirect: "manual", headers: { accept: "application/jwk-set+json, application/json" } } as const;

/** Throws an error that contains nothing of the response. */
export function fetchKeySet(
  url: URL,
  { responseMs, maxBytes }: ResponseLimits,
  stop: AbortSignal,
): Promise<JSONWebKeySet> {
  return abortAfter(responseMs, stop, async (signal) =>
    parseKeySet(await readText(await fetch(url, { ...REQUEST, signal }), maxBytes)),
  );
}

async function readText({ body, status }: Response, maxBytes: number): Promise<string> {
  if (status !== 200 || body === null) {
    await body?.cancel();
    throw new Error(`response has status ${status}`);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  // The types of streams do not say that the chunks are bytes. Leaving the loop cancels the body.
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`response is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parseKeySet(text: string): JSONWebKeySet {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Rejected below.
  }
  if (isKeySet(value)) return value;
  throw new Error("response is not a JWK set (RFC 7517)");
}

/** jose checks the members of a key when it uses it. */
function isKeySet(value: unknown): value is JSONWebKeySet {
  const keys = typeof value === "object" && value !== null && "keys" in value ? value.keys : undefined;
  return Array.isArray(keys) && keys.every((key) => typeof key === "object" && key !== null);
}
