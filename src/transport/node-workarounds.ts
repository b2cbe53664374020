/** Workarounds of bugs of Node.js. Each has the address of its bug, and can go with it. */
import type http from "node:http";
import type { ServerHttp2Session } from "node:http2";

/**
 * A server that is given its sockets never listens, and so never begins to check its header and request timeouts:
 * since https://github.com/nodejs/node/pull/48611 that begins with the event "listening".
 */
export function startTimeouts(server: http.Server): void {
  server.emit("listening");
}

/**
 * Closing or destroying an HTTP/2 session while Node.js parses what it has read crashes the process: a use after free
 * where GOAWAY and a request arrive together (https://github.com/nodejs/node/issues/64113), and an assertion of nghttp2
 * (https://github.com/nodejs/node/issues/64850). So both wait until the read is over; ticks and promises run inside of it,
 * immediates do not. test/transport/sockets/clients-gone.slow.test.ts fails without this.
 */
export function deferSessionClose(session: ServerHttp2Session): void {
  const close = session.close.bind(session);
  const destroy = session.destroy.bind(session);
  session.close = (...args) => void setImmediate(() => close(...args));
  session.destroy = (...args) => void setImmediate(() => destroy(...args));
}

/**
 * A response that waits behind another on its connection gets "100 Continue" between its head and its body: Node.js puts
 * the head before all that is queued (OutgoingMessage._send). Such a request goes without it, as RFC 9110, 10.1.1 allows.
 */
export function continueInOrder(server: http.Server): void {
  server.on("checkContinue", (request, response) => {
    if (response.socket !== null) response.writeContinue();
    server.emit("request", request, response);
  });
}
