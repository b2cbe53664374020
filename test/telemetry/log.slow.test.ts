/** The log of a process: each response has the id of its line, and nothing that a caller sends is in it. */
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { tmpdir } from "node:os";
import { gzipSync } from "node:zlib";
import { fromJson, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { acme } from "../fixtures/calls/build.js";
import { callNamed, calls } from "../fixtures/calls/index.js";
import { main, Program } from "../fixtures/program.js";
import type { Call } from "../fixtures/protocols.js";
import { framed } from "../fixtures/requests-in-forms.js";
import { until, within } from "../fixtures/wait.js";
import { nameOf, protocolClients } from "./protocol-clients.js";
import { type Line, start } from "./starting.js";

/** Throws if a line is not JSON. */
const jsonLines = ({ err }: Program): Line[] =>
  err.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Line]));

/** Logs every request. It ends with the test. `lines` are those of requests. */
async function startService(more: Readonly<Record<string, string>> = {}) {
  const env = { OFFLEDGER_PORT: "0", OFFLEDGER_LOG_REQUESTS: "all", ...more };
  const program = new Program(process.execPath, [main, "serve"], { cwd: tmpdir(), env });
  const url = await program.listens();
  const lines = () => jsonLines(program).filter(({ msg }) => msg === "request");
  return { program, url, lines, ids: () => lines().map(({ requestId }) => String(requestId)) };
}

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** The response does not end: the client leaves when it has the headers. */
  readonly isEndless?: boolean;
  /** The request does not end. Over HTTP/2 only. */
  readonly isUnfinished?: boolean;
}
interface Received {
  /** Of HTTP; of gRPC in a header the one of gRPC, such as "grpc 5". */
  readonly status: string;
  readonly id: unknown;
}
type Exchange = (url: string, sent: Sent) => Promise<Received>;

const WAIT_MS = 25_000;
const received = (status: number | undefined, headers: Readonly<Record<string, unknown>>): Received => ({
  status: typeof headers["grpc-status"] === "string" ? `grpc ${headers["grpc-status"]}` : String(status),
  id: headers["x-request-id"],
});

const overHttp1: Exchange = async (
  url,
  { path, headers = {}, body, isEndless = false, method = body === undefined ? "GET" : "POST" },
) => {
  const { hostname, port } = new URL(url);
  // The service may close the connection of a body that it does not want.
  const request = http.request({ hostname, port, path, method, headers, agent: false }).on("error", () => {});
  request.end(body);
  const [response] = (await within(WAIT_MS, `a response to ${path.slice(0, 80)}`, once(request, "response"))) as [
    http.IncomingMessage,
  ];
  response.on("error", () => {});
  if (isEndless) request.destroy();
  else await within(WAIT_MS, `the end of ${path.slice(0, 80)}`, once(response.resume(), "close"));
  return received(response.statusCode, response.headers);
};

const overHttp2: Exchange = async (
  url,
  { path, headers = {}, body, isEndless = false, isUnfinished = false, method = body === undefined ? "GET" : "POST" },
) => {
  const session = http2.connect(url).on("error", () => {});
  try {
    const stream = session.request({ ":method": method, ":path": path, ...headers }, { endStream: false });
    stream.on("error", () => {});
    if (isUnfinished) stream.write(body ?? "");
    else stream.end(body);
    const response = once(stream, "response") as Promise<[http2.IncomingHttpHeaders & { ":status"?: number }]>;
    const [head] = await within(WAIT_MS, `a response to ${path.slice(0, 80)}`, response);
    if (!isEndless && !stream.closed)
      await within(WAIT_MS, `the end of ${path.slice(0, 80)}`, once(stream.resume(), "close"));
    return received(head[":status"], head);
  } finally {
    session.destroy();
  }
};

const list = callNamed("v1 instruments");
const factory = callNamed("v2 allocation factory");
const rpc = `/${nameOf(list)}`;
const watch = "/offledger.watch.v1.WatchService/Watch";

const message = (registrarParty: string) =>
  framed(toBinary(list.method.input, fromJson(list.method.input, { registrarParty })));
const json = { "content-type": "application/json" };
const grpc = { "content-type": "application/grpc", te: "trailers" };
const grpcWeb = { "content-type": "application/grpc-web+proto" };
const connectStream = { "content-type": "application/connect+json" };
const deadline = { "connect-timeout-ms": "20000", "grpc-timeout": "20S" };
const preflight = { origin: "https://wallet.example", "access-control-request-method": "POST" };
const asset = "/docs/static/swagger-ui.css";
const large = "x".repeat(2_000_000);
const long = `?${"a".repeat(13_000)}`;
const valid = JSON.stringify({ registrarParty: acme });
const unknown = JSON.stringify({ registrarParty: "nobody" });
const allocation = JSON.stringify(factory.body);
const post = (path: string, headers: Readonly<Record<string, string>>, content: string | Buffer): Sent => ({
  path,
  headers,
  body: content,
});
const get = (path: string, headers = {}): Sent => ({ path, headers });
const endless = (sent: Sent): Sent => ({ ...sent, isEndless: true });

/** A request for each way to a response, with the versions of HTTP it is sent over. */
const kinds: readonly (readonly [versions: string, status: string, sent: Sent])[] = [
  ["12", "200", post(factory.path, json, allocation)],
  ["1", "200", post(factory.path, { ...json, "accept-encoding": "gzip" }, allocation)],
  ["2", "200", post(factory.path, { ...json, "offledger-if-none-match": "*" }, allocation)],
  ["1", "200", { method: "HEAD", path: list.path }],
  ["1", "304", get(list.path, { "if-none-match": "*" })],
  ["2", "400", post(factory.path, json, "{")],
  ["2", "405", { method: "DELETE", path: rpc }],
  ["12", "404", post("/nothing", json, "{}")],
  ["12", "413", post(factory.path, { ...json, "content-length": "2000000" }, large)],
  ["1", "414", get(list.path + long)],
  ["2", "415", post(factory.path, { ...json, "content-encoding": "gzip" }, gzipSync(allocation))],
  ["12", "400", get("/%zz")],
  ["1", "204", { method: "OPTIONS", path: factory.path, headers: preflight }],
  ["2", "405", { method: "OPTIONS", path: factory.path }],
  ["1", "200", get("/readyz")],
  ["1", "304", get(asset, { "if-none-match": "*" })],
  ["2", "206", get(asset, { range: "bytes=0-9" })],
  ["12", "200", endless(get("/api/offledger/v1/watch"))],
  ["1", "400", get("/api/offledger/v1/watch?resumeToken=%00")],
  ["1", "200", post(rpc, json, valid)],
  ["2", "404", post(rpc, json, unknown)],
  ["1", "429", post(rpc, json, large)],
  ["1", "200", post(rpc, { ...json, ...deadline }, valid)],
  ["2", "404", post(rpc, { ...json, ...deadline }, unknown)],
  ["1", "304", get(`${rpc}?encoding=json&message=${encodeURIComponent(valid)}`, { "if-none-match": "*" })],
  ["2", "404", get(`${rpc}?encoding=json&message=${encodeURIComponent(unknown)}`)],
  ["1", "415", post(rpc, { "content-type": "text/plain" }, valid)],
  ["1", "200", endless(post(watch, connectStream, framed(Buffer.from("{}"))))],
  ["2", "200", post(watch, connectStream, framed(Buffer.from("{")))],
  [
    "1",
    "505",
    post("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", connectStream, framed(Buffer.from("{}"))),
  ],
  ["2", "200", post(rpc, grpcWeb, message("nobody"))],
  ["1", "200", post(rpc + long, grpcWeb, message(acme))],
  ["1", "200", endless(post(watch, grpcWeb, framed(Buffer.from(""))))],
  ["1", "200", post(rpc, grpc, message(acme))],
  ["2", "200", post(rpc, grpc, message(acme))],
  ["2", "grpc 5", post(rpc, grpc, message("nobody"))],
  ["2", "grpc 8", post(rpc, grpc, framed(Buffer.from(large)))],
  ["2", "200", post(rpc, { ...grpc, ...deadline }, message(acme))],
  ["2", "grpc 5", post(rpc, { ...grpc, ...deadline }, message("nobody"))],
  ["2", "grpc 12", post("/somebody.Else/Nothing", grpc, framed(Buffer.from("")))],
  ["2", "200", endless(post(watch, grpc, framed(Buffer.from(""))))],
  ["2", "200", post(watch, grpc, framed(Buffer.from("x")))],
  ["2", "200", post("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", grpc, framed(Buffer.of(58, 0)))],
];

/** Sixteen hexadecimal digits of the process, and a number. */
const MADE = /^[0-9a-f]{16}-[1-9]\d*$/;
const withId = (sent: Sent, id: string): Sent => ({ ...sent, headers: { ...sent.headers, "x-request-id": id } });

describe("a request id", () => {
  test("of every way to a response is the caller's, or one made for it, as in the log", async () => {
    const { url, ids } = await startService();
    const made = new Set<unknown>();
    const logged: unknown[] = [];
    for (const [at, [versions, status, sent]] of kinds.entries()) {
      for (const exchange of versions.split("").map((version) => (version === "1" ? overHttp1 : overHttp2))) {
        const given = `Kind_${at}.a-b`;
        const what = { versions, path: sent.path.slice(0, 80) };
        const echoed = await exchange(url, withId(sent, given));
        expect({ ...what, ...echoed }).toEqual({ ...what, status, id: given });
        const other = await exchange(url, at % 2 === 0 ? sent : withId(sent, "with space"));
        expect({ ...what, ...other }).toEqual({ ...what, status, id: expect.stringMatching(MADE) as string });
        expect(made.has(other.id)).toBe(false);
        made.add(other.id);
        logged.push(given, other.id);
      }
    }
    await until("all requests are logged", () => ids().length >= logged.length);
    expect(new Set(ids())).toEqual(new Set(logged));
    expect(ids()).toHaveLength(logged.length);
  });

  test("of a request that is not received in time", async () => {
    const { url } = await start({ requestSeconds: 1 });
    const late = { ...post(rpc, json, "{"), isUnfinished: true };
    expect(await overHttp2(url, withId(late, "own"))).toEqual({ status: "408", id: "own" });
    const { id, status } = await overHttp2(url, late);
    expect([status, MADE.test(String(id))]).toEqual(["408", true]);
  });
});

/** What a refusal is about, which may be a value of the request. */
const ABOUT = new Set("registrar instrument party issuer claims contractId template synchronizers".split(" "));

test("no token, payload or header is logged, whatever fails, but what a refusal is about", async () => {
  const { url, program, lines } = await startService({ OFFLEDGER_LOG_LEVEL: "trace" });
  const headers = {
    authorization: "Bearer MARK-token",
    cookie: "MARK-cookie",
    "x-api-key": "MARK-key",
    "x-request-id": "MARK id of no form",
    traceparent: "MARK-trace",
    "user-agent": "MARK-agent",
  };
  // Valid payloads, invalid ones, and ones that name unknown contracts.
  const marked: Call[] = Object.values(calls)
    .filter(({ body }) => body !== undefined)
    .map(({ method, path, body, request }) => ({ method, path, body: withMark(body), request: withMark(request, 1) }));
  expect(marked.length).toBeGreaterThan(30);
  const linesUntil = async (id: string): Promise<Line[]> => {
    await protocolClients.REST?.send(url, list, { "x-request-id": id });
    await until(`${id} is logged`, () => lines().some(({ requestId }) => requestId === id));
    return lines();
  };
  for (const [turn, { send }] of Object.values(protocolClients).entries())
    for (const call of marked.filter((_, at) => at % 3 === turn % 3)) await send(url, call, headers);
  const before = await linesUntil("before");
  // The clients do not send some of the payloads.
  expect(before.length).toBeGreaterThan(60);
  const raw = [
    ["/api/utilities/v0/operator?MARK-query=MARK", "GET", undefined, "application/json"],
    ["/MARK-path", "GET", undefined, "application/json"],
    ["/api/utilities/v0/registry/mint/v0/offer", "POST", '{"MARK-json', "application/json"],
    ["/api/utilities/v0/registry/mint/v0/offer", "POST", "MARK-text", "text/MARK"],
    ["/offledger.mint.v0.MintService/MARK-method", "POST", "MARK", "application/proto"],
    [rpc, "POST", "MARK-not-json", "application/json"],
    [rpc, "POST", "MARK-not-protobuf", "application/proto"],
    [rpc, "POST", "\0\0\0\0\u0004MARK", "application/grpc"],
    [rpc, "POST", "MARK", "application/grpc-web+proto"],
    [`${rpc}?message=MARK&encoding=json`, "GET", undefined, ""],
    [rpc, "POST", `"MARK${"x".repeat(2_000_000)}"`, "application/json"],
  ] as const;
  for (const [path, method, body, type] of raw) {
    const response = await fetch(url + path, {
      method,
      headers: { ...headers, "content-type": type },
      ...(body !== undefined && { body }),
    });
    await response.text();
  }
  const after = (await linesUntil("after")).slice(before.length);
  // Each of them was logged.
  expect(after).toHaveLength(raw.length + 1);
  expect(new Set([...before, ...after].map(({ status }) => status)).size).toBeGreaterThan(2);
  program.stop();
  const { out } = await program.ended();
  const kept = jsonLines(program).map((line) => Object.entries(line).filter(([name]) => !ABOUT.has(name)));
  const logged = out + JSON.stringify(kept);
  expect(logged).not.toContain("MARK");
  expect(logged).not.toContain(Buffer.from("MARK").toString("base64").slice(0, 5));
});

/** Marks every string below the first level, which leaves the request well-formed. */
function withMark(value: unknown, depth = 0): never {
  if (typeof value === "string" && depth > 1) return `${value}MARK` as never;
  if (Array.isArray(value)) return value.map((one) => withMark(one, depth + 1)) as never;
  if (typeof value !== "object" || value === null) return value as never;
  const marked = Object.entries(value).map(([name, one]) => [name, withMark(one, depth + 1)]);
  return Object.fromEntries(depth === 0 ? [...marked, ["MARK-field", "MARK"]] : marked) as never;
}
