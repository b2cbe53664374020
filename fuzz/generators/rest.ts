/** REST requests that are nearly right. */
import { gzipSync } from "node:zlib";
import type { Dice } from "../prng.js";
import type { Sort } from "../input.js";
import { mutatedBytes } from "../mutate/bytes.js";
import { mutatedJson, mutatedText } from "../mutate/json.js";
import { mutatedPath } from "../mutate/path.js";
import { type Seed, seeds } from "../corpus.js";
import { asking, type Request } from "../send/request.js";
import { someHeaders } from "./headers.js";

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

/** Larger than what is read of a body. */
const TOO_LARGE = Buffer.alloc(1024 * 1024 + 1, '{"a":');

/** What anybody may send in place of the JSON that belongs there. */
export function bodyOf(dice: Dice, right: unknown): Buffer {
  if (dice.chance(0.05)) return TOO_LARGE;
  const value = right ?? {};
  const changed = dice.chance(70) ? mutatedJson(dice, value as Parameters<typeof mutatedJson>[1]) : value;
  let text = JSON.stringify(changed);
  if (dice.chance(20)) text = mutatedText(dice, text);
  const bytes = Buffer.from(text);
  return dice.chance(10) ? mutatedBytes(dice, bytes) : bytes;
}

function requestOf(dice: Dice, { verb, path, body }: Seed): Request {
  const method = dice.chance(4) ? dice.pick(METHODS) : verb;
  const hasBody = body === undefined ? dice.chance(10) : dice.chance(98);
  const bytes = hasBody ? bodyOf(dice, body) : Buffer.alloc(0);
  const isPacked = dice.chance(1);
  const type = dice.chance(8) ? dice.pick(TYPES) : "application/json";
  return {
    version: dice.chance(25) ? 2 : 1,
    method,
    path: pathOf(dice, path),
    headers: {
      ...(dice.chance(98) && { "content-type": type }),
      ...(isPacked && { "content-encoding": dice.pick(["gzip", "br", "identity", "x", ""]) }),
      ...(dice.chance(10) && someHeaders(dice)),
    },
    body: isPacked && dice.chance(50) ? gzipSync(bytes) : bytes,
  };
}

function pathOf(dice: Dice, path: string): string {
  if (dice.chance(1)) return mutatedPath(dice, dice.pick(PAGES));
  return dice.chance(35) ? mutatedPath(dice, path) : path;
}

export const rest: Sort = {
  name: "rest",
  share: 46,
  inFlight: 32,
  make: (dice) => asking(requestOf(dice, dice.pick(seeds))),
};
