/** Almost valid REST requests. */
import { gzipSync } from "node:zlib";
import type { Prng } from "../prng.js";
import type { InputGenerator } from "../input.js";
import { mutateBytes } from "../mutate/bytes.js";
import { mutateJson, mutateJsonText } from "../mutate/json.js";
import { mutatePath } from "../mutate/path.js";
import { type CorpusEntry, corpus } from "../corpus.js";
import { createRequestInput, type FuzzRequest } from "../send/request.js";
import { pickHeaders } from "./headers.js";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "SEARCH"];

const TYPES = [
  "application/json; charset=utf-8",
  "application/json;charset=utf-16",
  "Application/JSON",
  "application/json,text/plain",
  "application/json;",
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=a",
  "application/grpc",
  "application/connect+json",
  "application/*",
  "a",
  ";",
  "/",
  "é",
];

const PAGES = [
  "/docs",
  "/docs/",
  "/docs/static/index.html",
  "/docs/json",
  "/docs/..%2f..%2fpackage.json",
  "/",
  "/metrics",
];

/** Above the body limit of the service. */
const OVERSIZED_BODY = Buffer.alloc(1024 * 1024 + 1, '{"a":');

export function fuzzBody(prng: Prng, valid: unknown): Buffer {
  if (prng.chance(0.05)) return OVERSIZED_BODY;
  const value = valid ?? {};
  const changed = prng.chance(70) ? mutateJson(prng, value as Parameters<typeof mutateJson>[1]) : value;
  let text = JSON.stringify(changed);
  if (prng.chance(20)) text = mutateJsonText(prng, text);
  const bytes = Buffer.from(text);
  return prng.chance(10) ? mutateBytes(prng, bytes) : bytes;
}

function fuzzRequest(prng: Prng, { verb, path, body }: CorpusEntry): FuzzRequest {
  const method = prng.chance(4) ? prng.pick(METHODS) : verb;
  const hasBody = body === undefined ? prng.chance(10) : prng.chance(98);
  const bytes = hasBody ? fuzzBody(prng, body) : Buffer.alloc(0);
  const isCompressed = prng.chance(1);
  const type = prng.chance(8) ? prng.pick(TYPES) : "application/json";
  return {
    version: prng.chance(25) ? 2 : 1,
    method,
    path: fuzzPath(prng, path),
    headers: {
      ...(prng.chance(98) && { "content-type": type }),
      ...(isCompressed && { "content-encoding": prng.pick(["gzip", "br", "identity", "x", ""]) }),
      ...(prng.chance(10) && pickHeaders(prng)),
    },
    body: isCompressed && prng.chance(50) ? gzipSync(bytes) : bytes,
  };
}

function fuzzPath(prng: Prng, path: string): string {
  if (prng.chance(1)) return mutatePath(prng, prng.pick(PAGES));
  return prng.chance(35) ? mutatePath(prng, path) : path;
}

export const rest: InputGenerator = {
  name: "rest",
  share: 46,
  inFlight: 32,
  make: (prng) => createRequestInput(fuzzRequest(prng, prng.pick(corpus))),
};
