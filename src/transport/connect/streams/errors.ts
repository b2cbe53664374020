import { Code, type ConnectError } from "@connectrpc/connect";
import { retryAfter } from "../../reject.js";

const RETRY_SECONDS = 1;

/** A limit is reached; some of what counts towards it will end. */
export const tooMany = (message: string): ConnectError => retryAfter(Code.ResourceExhausted, message, RETRY_SECONDS);

/** The service ends a stream; the client may open another. */
export const streamOver = (message: string): ConnectError => retryAfter(Code.Unavailable, message, RETRY_SECONDS);
