/** Slow and aborting HTTP/2 clients. */
import http2 from "node:http2";
import type { Call } from "../../fixtures/protocols.js";
import { toCall } from "../model/queries.js";
import { encodeGrpc, decodeGrpc } from "./codec.js";
import type { SlowClient, ClientContext } from "./clients.js";

async function withConnection(
  { url, signal }: ClientContext,
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

const waitForClose = (stream: http2.ClientHttp2Stream | http2.ClientHttp2Session): Promise<unknown> =>
  stream.destroyed ? Promise.resolve() : new Promise((resolve) => void stream.once("close", resolve));

export const sendSlowlyHttp2: SlowClient = async (context) => {
  const { random, oracle, createQuery, record, pause } = context;
  return withConnection(context, async (session) => {
    const query = createQuery();
    const call = toCall(query);
    const bytes = encodeGrpc(call);
    const sent = oracle.recordSent();
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
    await Promise.race([waitForClose(stream), pause(20_000)]);
    const outcome = decodeGrpc(call, Buffer.concat(chunks), trailers);
    if (outcome !== undefined) record("slow gRPC", query, outcome, sent);
  });
};

/** Sends many requests with a tiny flow-control window and reads no response. */
export const readSlowlyHttp2: SlowClient = async (context) => {
  const { random, createQuery, pause } = context;
  const decodeHttp1 = async (session: http2.ClientHttp2Session) => {
    for (let count = 0; count < 60; count++) {
      const call = toCall(createQuery());
      open(session, call).pause().end(encodeGrpc(call));
    }
    await Promise.race([waitForClose(session), pause(2_000 + random.below(10_000))]);
  };
  return withConnection(context, decodeHttp1, { initialWindowSize: 64 });
};

/** Aborts requests: cancels the stream, or destroys the session. */
export const abortRequestHttp2: SlowClient = async (context) => {
  const { random, createQuery, pause } = context;
  return withConnection(context, async (session) => {
    for (let count = 0; count < 5 && !session.destroyed; count++) {
      const call = toCall(createQuery());
      const bytes = encodeGrpc(call);
      const stream = open(session, call);
      stream.write(bytes.subarray(0, random.below(bytes.length)));
      await pause(random.below(200));
      if (random.below(3) > 0) stream.close(http2.constants.NGHTTP2_CANCEL);
    }
  });
};

/** Opens a session and up to three requests that never continue. */
export const staySilentHttp2: SlowClient = async (context) => {
  const { random, createQuery, pause } = context;
  return withConnection(context, async (session) => {
    for (let count = random.below(4); count > 0; count--) open(session, toCall(createQuery()));
    await Promise.race([waitForClose(session), pause(random.below(15_000))]);
  });
};
