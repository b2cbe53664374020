import type { Socket } from "node:net";
import { countExternalGarbage } from "../../util/external-garbage.js";
import type { Connection } from "../admission/connection.js";

/** One read may bring 64 KiB: 1,900 pipelined requests, or 10,000 chunks of a body. */
export const SLICE_BYTES = 4 * 1024;

/**
 * Hands the bytes of an HTTP/1.1 connection to the parser of Node.js in slices, one in each turn of the connection.
 * Node.js would parse a whole read at once, and go on reading however many requests wait. The JavaScript
 * side of the socket costs a small request some 10 %, so only connections that need it are read so. Can go when Node.js bounds the pipelined requests of a connection.
 */
export function readInSlices(socket: Socket, connection: Connection): void {
  const [parse] = socket.listeners("data");
  if (parse === undefined) throw new Error("http.Server of this Node.js does not listen for data");
  const [pause, resume] = [socket.pause.bind(socket), socket.resume.bind(socket)];
  let held: Buffer | undefined;
  const state = {
    /** Node.js wants no more bytes: a body, or the responses, are not taken fast enough. */
    isStopped: socket.isPaused(),
    isWaiting: false,
  };
  const waitForTurn = () => {
    if (state.isWaiting || state.isStopped) return;
    state.isWaiting = true;
    connection.waitForTurn(parseSlice);
  };
  const parseSlice = () => {
    if (held !== undefined && !state.isStopped && !socket.destroyed) {
      const slice = held.subarray(0, SLICE_BYTES);
      held = held.length > SLICE_BYTES ? held.subarray(SLICE_BYTES) : undefined;
      Reflect.apply(parse, socket, [slice]);
    }
    // Not before: the next slice has to wait behind the requests of this one.
    state.isWaiting = false;
    if (held !== undefined) waitForTurn();
    else if (!state.isStopped) resume();
  };
  socket.removeListener("data", parse as () => void);
  socket.on("data", (chunk: Buffer) => {
    countExternalGarbage(chunk.length);
    if (held === undefined && chunk.length <= SLICE_BYTES && connection.waiting.length === 0) {
      Reflect.apply(parse, socket, [chunk]);
      return;
    }
    held = held === undefined ? chunk : Buffer.concat([held, chunk]);
    pause();
    waitForTurn();
  });
  socket.pause = () => {
    state.isStopped = true;
    return pause();
  };
  socket.resume = () => {
    state.isStopped = false;
    if (held === undefined) return resume();
    waitForTurn();
    return socket;
  };
}
