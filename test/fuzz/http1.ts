/** Almost valid HTTP/1.1 bytes. */
import { type CorpusEntry, corpus } from "./corpus.js";
import { mutateBytes } from "./mutate.js";
import type { Prng } from "./prng.js";
import { createRawInput } from "./raw.js";
import type { InputGenerator } from "./send.js";

const FIRST_LINES: readonly ((path: string) => string)[] = [
  (path) => `GET ${path} HTTP/1.0`,
  (path) => `GET ${path} HTTP/0.9`,
  (path) => `GET ${path}`,
  (path) => `GET ${path} HTTP/2.0`,
  (path) => `GET ${path} HTTP/9.9`,
  (path) => `GET  ${path}  HTTP/1.1`,
  (path) => `GET\t${path}\tHTTP/1.1`,
  (path) => ` GET ${path} HTTP/1.1`,
  (path) => `G\0T ${path} HTTP/1.1`,
  (path) => `PRI ${path} HTTP/1.1`,
  (path) => `GET http://a${path} HTTP/1.1`,
  (path) => `GET //${path} HTTP/1.1`,
  (path) => `POST ${path}?${"a".repeat(20_000)} HTTP/1.1`,
  (path) => `GET ${path}\u00ff HTTP/1.1`,
  (path) => `HEAD ${path} HTTP/1.1`,
  (path) => `${"A".repeat(300)} ${path} HTTP/1.1`,
  () => "OPTIONS * HTTP/1.1",
  () => "CONNECT a:1 HTTP/1.1",
  () => "GET  HTTP/1.1",
  () => "GET a HTTP/1.1",
  () => "\r\n\r\n\r\nGET / HTTP/1.1",
  () => "\u0016\u0003\u0001\u0002\u0000\u0001\u0000",
];

const HEADERS = [
  "Host: a",
  "Host:",
  "Content-Length: 5",
  "Content-Length: -1",
  "Content-Length: 99999999999999999999",
  "Content-Length: 1, 1",
  "Content-Length: 0x10",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: gzip, chunked",
  "Transfer-Encoding: chunked, identity",
  "Transfer-Encoding:\u000bchunked",
  "Connection: close",
  "Connection: upgrade, keep-alive",
  "Upgrade: h2c",
  "Upgrade: websocket",
  "HTTP2-Settings: AAMAAABkAAQAAP__",
  "Expect: 100-continue",
  "Expect: something",
  "No colon",
  ": no name",
  "Name : blank before the colon",
  " folded",
  "A: \u0000",
  "A: \u0001\u007f",
  "A: \u00e9",
  `A: ${"a".repeat(20_000)}`,
  "__proto__: a",
  "Trailer: a",
  "Keep-Alive: timeout=0, max=0",
];

const LINE_ENDS = ["\n", "\r", "\r\r\n", "\n\r"];

function encodeChunked(prng: Prng, body: string): string {
  const chunks = prng.split(Buffer.from(body), 2).map((chunk) => {
    const size = prng.chance(90)
      ? chunk.length.toString(16)
      : prng.pick(["", "g", "-1", "0x1", "ffffffffffffffff", "1;a=b", `1;${"a".repeat(5_000)}`, "0"]);
    return `${size}\r\n${chunk.toString("latin1")}\r\n`;
  });
  return chunks.join("") + prng.pick(["0\r\n\r\n", "0\r\n\r\n", "0\r\nA: b\r\n\r\n", "0\r\n", "", "0\r\n: b\r\n\r\n"]);
}

function fuzzRequest(prng: Prng, { verb, path, body }: CorpusEntry): string {
  const text = body === undefined ? "" : JSON.stringify(body);
  const first = prng.chance(15) ? prng.pick(FIRST_LINES)(path) : `${verb} ${path} HTTP/1.1`;
  const isChunked = text !== "" && prng.chance(30);
  const length = prng.chance(90) ? text.length : prng.pick([0, text.length - 1, text.length + 1, 1 << 30]);
  const lines = [
    "Host: a",
    ...(text === ""
      ? []
      : ["Content-Type: application/json", isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`]),
  ];
  const extraHeaders = prng.chance(25) ? Array.from({ length: prng.between(1, 3) }, () => prng.pick(HEADERS)) : [];
  const end = prng.chance(95) ? "\r\n" : prng.pick(LINE_ENDS);
  return [first, ...lines, ...extraHeaders, "", isChunked ? encodeChunked(prng, text) : text].join(end);
}

export const http1: InputGenerator = {
  name: "http1",
  share: 12,
  inFlight: 24,
  make(prng) {
    const texts = Array.from({ length: prng.chance(60) ? 1 : prng.between(2, 8) }, () =>
      fuzzRequest(prng, prng.pick(corpus)),
    );
    const valid = Buffer.from(texts.join(""), "latin1");
    const bytes = prng.chance(30) ? mutateBytes(prng, valid, 3) : valid;
    const chunks = prng.split(bytes, prng.chance(50) ? 0 : prng.between(1, 5));
    return createRawInput({ chunks, lingerMs: prng.pick([0, 5, 20]), isReset: prng.chance(10) });
  },
};
