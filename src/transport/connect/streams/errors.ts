import { Code, type ConnectError } from "@connectrpc/connect";
import { retryAfter } from "../../reject.js";

/** Seconds after which it makes sense to ask again, as everywhere in the service. */
const AGAIN_S = 1;

/** There are as many as there may be; some will end. */
export const tooMany = (what: string): ConnectError => retryAfter(Code.ResourceExhausted, what, AGAIN_S);

/** It ends, and may be begun anew. */
export const streamOver = (what: string): ConnectError => retryAfter(Code.Unavailable, what, AGAIN_S);
