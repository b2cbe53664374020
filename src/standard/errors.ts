import { Code, ConnectError } from "@connectrpc/connect";

/** Seconds after which it makes sense to ask again, as everywhere in the service. */
const AGAIN = { "retry-after": "1" };

/** There are as many as there may be; some will end. */
export const tooMany = (what: string): ConnectError => new ConnectError(what, Code.ResourceExhausted, AGAIN);

/** It ends, and may be begun anew. */
export const over = (what: string): ConnectError => new ConnectError(what, Code.Unavailable, AGAIN);
