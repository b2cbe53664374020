/** The attacks by their names. */
import type { Attack } from "./attack.js";
import { bodiesHttp1 } from "./bodies-http1.js";
import { chunkExtensions, tinyChunks } from "./chunked.js";
import { pipelinedLivez, pipelinedOpenApi } from "./pipelined.js";

export const attacks = {
  "bodies-http1": bodiesHttp1,
  "pipelined-openapi": pipelinedOpenApi,
  "tiny-chunks": tinyChunks(5),
  "tiny-chunks-40": tinyChunks(40),
  "pipelined-livez": pipelinedLivez,
  "chunk-extensions": chunkExtensions,
} as const satisfies Readonly<Record<string, Attack>>;

export type AttackName = keyof typeof attacks;
