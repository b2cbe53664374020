/** HTTP/2 connections that break the protocol and are then left half-open, as many as the service has slots. */
import { keepConnected } from "../wire/crowd.js";
import { encodeStart } from "../wire/http2-connection.js";
import { encodeFrame, encodeHeaders, encodeRequestBlock, TYPE } from "../wire/http2-frames.js";
import type { Attack } from "./attack.js";
import { openApiPath } from "./pipelined.js";

/** OFFLEDGER_MAX_CONNECTIONS by default. */
const CONNECTIONS = 10_000;

/** DATA belongs to no stream. */
const brokenFrame = encodeFrame(TYPE.data, 0, 0, Buffer.from("broken"));

/** Every second connection breaks in the middle of a response that it does not accept. */
export const brokenConnections: Attack = async (target, tally, signal) => {
  const request = encodeHeaders(1, encodeRequestBlock("GET", await openApiPath(target)), true);
  const atOnce = Buffer.concat([encodeStart(0), brokenFrame]);
  const whileResponding = Buffer.concat([encodeStart(0), request, brokenFrame]);
  await keepConnected(target, tally, signal, {
    count: CONNECTIONS,
    allowHalfOpen: true,
    use(socket, index) {
      tally.requests++;
      socket.write(index % 2 === 0 ? atOnce : whileResponding);
      // Its own end stays open after the end of the other; a reset closes it, and another follows.
      socket.once("end", () => tally.answer("end"));
      socket.resume();
    },
  });
};
