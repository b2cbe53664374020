/** A client of HTTP/2 for attackers: it keeps a number of requests under way, and may take no response. */
import http2 from "node:http2";
import type net from "node:net";
import { frame, PREFACE, settings, Type, word } from "../../fixtures/http2-frames.js";
import type { Tally } from "./families.js";

const MAX_WINDOW = 2 ** 31 - 1;
const DEFAULT_WINDOW = 65_535;
const INITIAL_WINDOW_SIZE = 4;
export const CANCEL = word(http2.constants.NGHTTP2_CANCEL);

export interface Request {
  readonly headers: http2.OutgoingHttpHeaders;
  readonly body?: Buffer;
}

export interface Http2Options {
  /** Flow-control window for each response; unlimited without it. */
  readonly responseWindow?: number;
  /** Whether a stream stays open behind its body. */
  readonly isEndless?: boolean;
  /** Called when a response is complete or the server has reset the stream. */
  readonly onStreamEnd: () => void;
}

/** Returns how a request is sent. */
export function connectHttp2(
  socket: net.Socket,
  tally: Tally,
  { responseWindow = MAX_WINDOW, isEndless = false, onStreamEnd }: Http2Options,
): (request: Request) => void {
  const session = http2.connect("http://localhost", {
    createConnection: () => socket,
    settings: { initialWindowSize: responseWindow },
  });
  session.on("error", () => undefined).on("goaway", (code) => tally.answer(`goaway ${code}`));
  session.once("connect", () => session.setLocalWindowSize(MAX_WINDOW));
  return ({ headers, body }) => {
    if (session.closed || session.destroyed) return;
    tally.requests++;
    const stream = session.request(headers, { endStream: body === undefined });
    stream.on("response", ({ ":status": status }) => tally.answer(String(status)));
    stream.on("error", () => tally.answer(`reset ${stream.rstCode}`)).once("close", onStreamEnd);
    // What the server has answered is over, whether or not it has taken the body.
    stream.resume().once("end", () => stream.close(http2.constants.NGHTTP2_CANCEL));
    if (isEndless) stream.write(body);
    else if (body !== undefined) stream.end(body);
  };
}

/** Preface and settings, with all the connection-level window there is. */
export const encodeStart = (responseWindow = MAX_WINDOW): Buffer =>
  Buffer.concat([
    PREFACE,
    settings({ [INITIAL_WINDOW_SIZE]: responseWindow }),
    frame(Type.windowUpdate, 0, 0, word(MAX_WINDOW - DEFAULT_WINDOW)),
  ]);
