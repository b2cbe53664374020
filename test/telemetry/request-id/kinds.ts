/** Requests for every kind of response that the service has. */
import { fromJson, toBinary } from "@bufbuild/protobuf";
import { gzipSync } from "node:zlib";
import { acme } from "../../fixtures/calls/build.js";
import { callNamed } from "../../fixtures/calls/index.js";
import { type Exchange, overHttp1, overHttp2, type Sent } from "./exchange.js";

export interface Kind {
  readonly status: string;
  readonly sent: Sent;
  /** False for what is refused before it is a request of the service. */
  readonly isLogged?: boolean;
}

const list = callNamed("v1 instruments");
const factory = callNamed("v2 allocation factory");
const { input } = list.method;
const message = (registrar: string): Buffer =>
  Buffer.from(toBinary(input, fromJson(input, { registrarParty: registrar })));
const json = { "content-type": "application/json" };
const proto = { "content-type": "application/proto" };
const page = { origin: "https://wallet.example" };
const rpc = `/${list.method.parent.typeName}/${list.method.name}`;
const watch = "/offledger.watch.v1.WatchService/Watch";

export function envelope(bytes: Buffer | string, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(Buffer.byteLength(bytes), 1);
  return Buffer.concat([head, Buffer.from(bytes)]);
}

const post = (path: string, headers: Readonly<Record<string, string>>, body: string | Buffer): Sent => ({
  method: "POST",
  path,
  headers,
  body,
});
const get = (path: string, headers: Readonly<Record<string, string>> = {}): Sent => ({ path, headers });
const query = (registrar: string): string =>
  `${rpc}?connect=v1&encoding=json&message=${encodeURIComponent(JSON.stringify({ registrarParty: registrar }))}`;
const valid = JSON.stringify({ registrarParty: acme });
const unknown = JSON.stringify({ registrarParty: "nobody" });
const grpc = { "content-type": "application/grpc", te: "trailers" };
const grpcWeb = { "content-type": "application/grpc-web+proto" };
const large = "x".repeat(2_000_000);

/** Served over HTTP/1.1 and HTTP/2. */
const both: Readonly<Record<string, Kind>> = {
  "REST, fast path": { status: "200", sent: post(factory.path, json, JSON.stringify(factory.body)) },
  "REST, fast path, in gzip": {
    status: "200",
    sent: post(factory.path, { ...json, "accept-encoding": "gzip" }, JSON.stringify(factory.body)),
  },
  "REST, fast path, from a page": {
    status: "200",
    sent: post(factory.path, { ...json, ...page }, JSON.stringify(factory.body)),
  },
  "REST, fast path, not modified": {
    status: "200",
    sent: post(factory.path, { ...json, "offledger-if-none-match": "*" }, JSON.stringify(factory.body)),
  },
  "REST, fast path, 400": { status: "400", sent: post(factory.path, json, "{") },
  "REST, GET": { status: "200", sent: get(list.path) },
  "REST, HEAD": { status: "200", sent: { method: "HEAD", path: list.path } },
  "REST, GET, 304": { status: "304", sent: get(list.path, { "if-none-match": "*" }) },
  "REST, GET, 404": { status: "404", sent: get(list.path.replace(encodeURIComponent(acme), "nobody")) },
  "REST, compressed body": {
    status: "415",
    sent: post(factory.path, { ...json, "content-encoding": "gzip" }, gzipSync(JSON.stringify(factory.body))),
  },
  "405 of REST": { status: "405", sent: { method: "DELETE", path: list.path } },
  "405 of an rpc": { status: "405", sent: { method: "DELETE", path: rpc } },
  "404 without a route": { status: "404", sent: get("/nothing") },
  "404 without a route, with a body": { status: "404", sent: post("/nothing", json, "{}") },
  "413": { status: "413", sent: post(factory.path, { ...json, "content-length": "2000000" }, large) },
  "414": { status: "414", sent: get(`${list.path}?${"a".repeat(13_000)}`) },
  "414 of an rpc": { status: "400", sent: post(`${rpc}?${"a".repeat(13_000)}`, json, valid) },
  "415": { status: "415", sent: post(factory.path, { "content-type": "text/plain" }, "{}") },
  "malformed path": { status: "400", sent: get("/%zz"), isLogged: false },
  preflight: {
    status: "204",
    sent: {
      method: "OPTIONS",
      path: factory.path,
      headers: { ...page, "access-control-request-method": "POST", "access-control-request-headers": "x-request-id" },
    },
  },
  "OPTIONS without an origin": { status: "405", sent: { method: "OPTIONS", path: factory.path } },
  health: { status: "200", sent: get("/readyz") },
  OpenAPI: { status: "200", sent: get("/api/utilities/v0/openapi", { "accept-encoding": "gzip" }) },
  "/": { status: "200", sent: get("/") },
  "/docs": { status: "200", sent: get("/docs") },
  "/docs, HEAD": { status: "200", sent: { method: "HEAD", path: "/docs" } },
  "/docs, an asset": { status: "200", sent: get("/docs/static/swagger-ui.css") },
  "/docs, 304": { status: "304", sent: get("/docs/static/swagger-ui.css", { "if-none-match": "*" }) },
  "/docs, a range": { status: "206", sent: get("/docs/static/swagger-ui.css", { range: "bytes=0-9" }) },
  "/docs, a redirection": { status: "302", sent: get("/docs/static/index.html") },
  "/docs, 404": { status: "404", sent: get("/docs/static/nothing.css") },
  "server-sent events": { status: "200", sent: { ...get("/api/offledger/v1/watch"), isEndless: true } },
  "server-sent events, 400": { status: "400", sent: get("/api/offledger/v1/watch?resumeToken=%00") },
  "Connect, JSON": { status: "200", sent: post(rpc, json, valid) },
  "Connect, JSON, not modified": { status: "200", sent: post(rpc, { ...json, "offledger-if-none-match": "*" }, valid) },
  "Connect, JSON, 404": { status: "404", sent: post(rpc, json, unknown) },
  "Connect, JSON, too large": { status: "429", sent: post(rpc, json, large) },
  "Connect, binary": { status: "200", sent: post(rpc, proto, message(acme)) },
  "Connect, binary, 404": { status: "404", sent: post(rpc, proto, message("nobody")) },
  "Connect, deadline": { status: "200", sent: post(rpc, { ...json, "connect-timeout-ms": "20000" }, valid) },
  "Connect, deadline, 404": { status: "404", sent: post(rpc, { ...json, "connect-timeout-ms": "20000" }, unknown) },
  "Connect, GET": { status: "200", sent: get(query(acme)) },
  "Connect, GET, 304": { status: "304", sent: get(query(acme), { "if-none-match": "*" }) },
  "Connect, GET, 404": { status: "404", sent: get(query("nobody")) },
  "Connect, GET, no query": { status: "415", sent: get(rpc) },
  "Connect, other content type": { status: "415", sent: post(rpc, { "content-type": "text/plain" }, valid) },
  "Connect, stream": {
    status: "200",
    sent: { ...post(watch, { "content-type": "application/connect+json" }, envelope("{}")), isEndless: true },
  },
  "Connect, stream that is refused": {
    status: "200",
    sent: post(watch, { "content-type": "application/connect+json" }, envelope("{")),
  },
  "gRPC-Web": { status: "200", sent: post(rpc, grpcWeb, envelope(message(acme))) },
  "gRPC-Web, not_found": { status: "200", sent: post(rpc, grpcWeb, envelope(message("nobody"))) },
  "gRPC-Web, path too long": {
    status: "grpc 3",
    sent: post(`${rpc}?${"a".repeat(13_000)}`, grpcWeb, envelope(message(acme))),
  },
  "gRPC-Web, unknown operation": { status: "404", sent: post("/somebody.Else/Nothing", grpcWeb, envelope("")) },
  "gRPC-Web, stream": { status: "200", sent: { ...post(watch, grpcWeb, envelope("")), isEndless: true } },
};

const onlyHttp1: Readonly<Record<string, Kind>> = {
  "gRPC over HTTP/1.1, unary": { status: "200", sent: post(rpc, grpc, envelope(message(acme))) },
  "stream that needs HTTP/2": {
    status: "505",
    sent: post(
      "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      { "content-type": "application/connect+json" },
      envelope("{}"),
    ),
  },
};

const withDeadline = { ...grpc, "grpc-timeout": "20S" };
/** The number of the request field that lists the services, and an empty string. */
const listServices = Buffer.of((7 << 3) | 2, 0);

const onlyHttp2: Readonly<Record<string, Kind>> = {
  "gRPC, fast path": { status: "200", sent: post(rpc, grpc, envelope(message(acme))) },
  "gRPC, fast path, in gzip": {
    status: "200",
    sent: post(rpc, { ...grpc, "grpc-accept-encoding": "gzip" }, envelope(message(acme))),
  },
  "gRPC, fast path, not modified": {
    status: "200",
    sent: post(rpc, { ...grpc, "offledger-if-none-match": "*" }, envelope(message(acme))),
  },
  "gRPC, fast path, not_found": { status: "grpc 5", sent: post(rpc, grpc, envelope(message("nobody"))) },
  "gRPC, fast path, too large": { status: "grpc 8", sent: post(rpc, grpc, envelope(large)) },
  "gRPC, deadline": { status: "200", sent: post(rpc, withDeadline, envelope(message(acme))) },
  "gRPC, deadline, not_found": { status: "grpc 5", sent: post(rpc, withDeadline, envelope(message("nobody"))) },
  "gRPC, unknown operation": { status: "grpc 12", sent: post("/somebody.Else/Nothing", grpc, envelope("")) },
  "gRPC, path too long": {
    status: "grpc 3",
    sent: post(`${rpc}?${"a".repeat(13_000)}`, grpc, envelope(message(acme))),
  },
  "gRPC, malformed message that is not Unicode": {
    status: "200",
    sent: post(rpc, { ...grpc, "content-type": "application/grpc+json" }, envelope('{"\\ud800":1}')),
  },
  "gRPC, watch": { status: "200", sent: { ...post(watch, grpc, envelope("")), isEndless: true } },
  "gRPC, watch that is refused": { status: "200", sent: post(watch, grpc, envelope("x")) },
  "gRPC, health": { status: "200", sent: post("/grpc.health.v1.Health/Check", grpc, envelope("")) },
  "gRPC, health, not_found": {
    status: "grpc 5",
    sent: post("/grpc.health.v1.Health/Check", grpc, envelope(Buffer.from("\n\u0001x"))),
  },
  "gRPC, health, watch": {
    status: "200",
    sent: { ...post("/grpc.health.v1.Health/Watch", grpc, envelope("")), isEndless: true },
  },
  "gRPC, reflection": {
    status: "200",
    sent: post("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", grpc, envelope(listServices)),
  },
};

export interface NamedKind extends Kind {
  readonly name: string;
  readonly exchange: Exchange;
}

const named = (version: string, exchange: Exchange, kinds: Readonly<Record<string, Kind>>): NamedKind[] =>
  Object.entries(kinds).map(([name, { status, sent, isLogged = true }]) => {
    return { name: `${name}, over ${version}`, exchange, status, sent, isLogged };
  });

export const kinds: readonly NamedKind[] = [
  ...named("HTTP/1.1", overHttp1, { ...both, ...onlyHttp1 }),
  ...named("HTTP/2", overHttp2, { ...both, ...onlyHttp2 }),
];
