import type { ConnectError } from "@connectrpc/connect";
import { rejection } from "../errors.js";

const RETRY_SECONDS = 1;

/** A limit is reached; some of what counts towards it will end. */
export const tooMany = (reason: "TOO_MANY_STREAMS" | "TOO_MANY_MESSAGES", message: string): ConnectError =>
  rejection(reason, message, { retrySeconds: RETRY_SECONDS });

/** The service ends a stream; the client may open another. */
export const streamOver = (reason: "STREAM_EXPIRED" | "SHUTTING_DOWN", message: string): ConnectError =>
  rejection(reason, message, { retrySeconds: RETRY_SECONDS });
