/** Callers over HTTP/2 that take their time, or go away. */
import http2 from "node:http2";
import type { Call } from "../../test/fixtures/protocols.js";
import { callOf } from "../model/queries.js";
import { framed, readGrpc } from "./codec.js";
import type { Slow, Surroundings } from "./clients.js";

/** A session that is gone behind its use, whatever comes of it. */
async function connected(
  { url, signal }: Surroundings,
  use: (session: http2.ClientHttp2Session) => Promise<void>,
  settings: http2.Settings = {},
): Promise<void> {
  const session = http2.connect(url, { settings }).on("error", () => undefined);
  const end = () => session.destroy();
  signal.addEventListener("abort", end, { once: true });
  try {
    await use(session);
  } finally {
    signal.removeEventListener("abort", end);
    session.destroy();
  }
}

function open(session: http2.ClientHttp2Session, { method }: Call): http2.ClientHttp2Stream {
  const path = `/${method.parent.typeName}/${method.name}`;
  const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc+proto", te: "trailers" };
  return session.request(headers, { endStream: false }).on("error", () => undefined);
}

const closed = (stream: http2.ClientHttp2Stream | http2.ClientHttp2Session): Promise<unknown> =>
  stream.destroyed ? Promise.resolve() : new Promise((resolve) => void stream.once("close", resolve));

/** Sends a message by gRPC a byte at a time. */
export const drip2: Slow = async (surroundings) => {
  const { random, judge, question, note, pause } = surroundings;
  return connected(surroundings, async (session) => {
    const asked = question();
    const call = callOf(asked);
    const bytes = framed(call);
    const sent = judge.sent();
    const stream = open(session, call);
    const chunks: Buffer[] = [];
    let trailers: http2.IncomingHttpHeaders = {};
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("response", (head) => (trailers = { ...trailers, ...head }));
    stream.on("trailers", (more) => (trailers = { ...trailers, ...more }));
    const longMs = random.below(6) === 0 ? 35_000 : 1_000 + random.below(8_000);
    for (let at = 0; at < bytes.length && !stream.destroyed; at++) {
      stream.write(bytes.subarray(at, at + 1));
      await pause(longMs / bytes.length);
    }
    stream.end();
    await Promise.race([closed(stream), pause(20_000)]);
    const outcome = readGrpc(call, Buffer.concat(chunks), trailers);
    if (outcome !== undefined) note("slow gRPC", asked, outcome, sent);
  });
};

/** Asks for a lot on one session, lets next to nothing through, and reads none of it for a while. */
export const slowReader2: Slow = async (surroundings) => {
  const { random, question, pause } = surroundings;
  const read = async (session: http2.ClientHttp2Session) => {
    for (let count = 0; count < 60; count++) {
      const call = callOf(question());
      open(session, call).pause().end(framed(call));
    }
    await Promise.race([closed(session), pause(2_000 + random.below(10_000))]);
  };
  return connected(surroundings, read, { initialWindowSize: 64 });
};

/** Goes away in the middle of the request: of the stream, or with the whole session. */
export const leaves2: Slow = async (surroundings) => {
  const { random, question, pause } = surroundings;
  return connected(surroundings, async (session) => {
    for (let count = 0; count < 5 && !session.destroyed; count++) {
      const call = callOf(question());
      const bytes = framed(call);
      const stream = open(session, call);
      stream.write(bytes.subarray(0, random.below(bytes.length)));
      await pause(random.below(200));
      if (random.below(3) > 0) stream.close(http2.constants.NGHTTP2_CANCEL);
    }
  });
};

/** Opens a session, and asks for nothing, or begins requests that never go on. */
export const silent2: Slow = async (surroundings) => {
  const { random, question, pause } = surroundings;
  return connected(surroundings, async (session) => {
    for (let count = random.below(4); count > 0; count--) open(session, callOf(question()));
    await Promise.race([closed(session), pause(random.below(15_000))]);
  });
};
