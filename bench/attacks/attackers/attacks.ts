/** The attacks by their names. */
import type { Attack } from "./attack.js";
import { bodiesHttp1 } from "./bodies-http1.js";
import { bodiesHttp2, smallDataFrames } from "./bodies-http2.js";
import { brokenConnections } from "./broken-connections.js";
import { chunkExtensions, tinyChunks } from "./chunked.js";
import { cookieCrumbs } from "./cookie-crumbs.js";
import { pipelinedLivez, pipelinedOpenApi } from "./pipelined.js";
import { stalledDocs } from "./stalled-docs.js";
import { unknownKids } from "./unknown-kids.js";
import { unreadSettlements } from "./unread-settlements.js";

export const attacks = {
  "bodies-http1": bodiesHttp1,
  "bodies-http2": bodiesHttp2,
  "pipelined-openapi": pipelinedOpenApi,
  "tiny-chunks": tinyChunks(5),
  "tiny-chunks-40": tinyChunks(40),
  "pipelined-livez": pipelinedLivez,
  "chunk-extensions": chunkExtensions,
  "cookie-crumbs": cookieCrumbs,
  "unknown-kids": unknownKids,
  "stalled-docs": stalledDocs,
  "broken-connections": brokenConnections,
  "small-data-frames": smallDataFrames,
  "unread-settlements": unreadSettlements,
} as const satisfies Readonly<Record<string, Attack>>;

export type AttackName = keyof typeof attacks;
