/** The content type of an rpc: any that it does not serve is 415 in one form, and names those that it serves. */
import http2 from "node:http2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sendHttp1, sendHttp2 } from "../fixtures/http-requests.js";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { nameOf, rpcs } from "../fixtures/services.js";

const grpc =
  "application/grpc, application/grpc+proto, application/grpc+json, application/grpc-web, application/grpc-web+proto, " +
  "application/grpc-web+json";
const unaryTypes = `application/json, application/proto, ${grpc}`;
const streamTypes = `application/connect+json, application/connect+proto, ${grpc}`;
const streams = [
  "/offledger.watch.v1.WatchService/Watch",
  "/grpc.health.v1.Health/Watch",
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];
const paths = [
  ...[...rpcs.map((method) => `/${nameOf(method)}`), "/grpc.health.v1.Health/Check"].map((path) => [path, unaryTypes]),
  ...streams.map((path) => [path, streamTypes]),
] as [path: string, types: string][];

/** Not served by any rpc; some are no content types at all. */
const unserved = [
  undefined,
  "",
  " ",
  "json",
  ";",
  "text/plain",
  "application/x-www-form-urlencoded",
  "application/xml",
  "application/jsonx",
  "application/x-protobuf",
  "application/protobuf",
  "application/json; charset=latin1",
  "application/grpc-web-text",
  "application/grpc+thrift",
  "application/grpc+proto; charset=utf-8",
  "application/connectjson",
];

let running: Running;
let session: http2.ClientHttp2Session;
beforeAll(async () => {
  running = await serveFile(undefined);
  session = http2.connect(running.url);
});
afterAll(async () => {
  session.destroy();
  await running.close();
});

type Send = (path: string, type: string | undefined, method?: string) => Promise<Answer>;
interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

const request = (path: string, type: string | undefined, method = "POST") => ({
  method,
  path,
  headers: type === undefined ? {} : { "content-type": type },
  ...(method === "POST" && { body: Buffer.from("AAAA") }),
});
const sends: [string, Send][] = [
  ["HTTP/1.1", (...of) => sendHttp1(running.url, request(...of))],
  ["HTTP/2", (...of) => sendHttp2(session, request(...of))],
];

describe.each(sends)("over %s", (_version, send) => {
  test.each(paths)("%s", async (path, types) => {
    for (const type of unserved) {
      const { status, headers, body } = await send(path, type);
      expect([type, status, headers["accept-post"]]).toEqual([type, 415, types]);
      expect(headers).toMatchObject({ "content-type": expect.stringMatching(/^application\/json/) as string });
      const { code, message } = JSON.parse(body.toString()) as { readonly code: string; readonly message: string };
      expect(code).toBe("invalid_argument");
      const given = type === undefined || type.trim() === "" ? "absent" : `"${type}"`;
      const [json = ""] = types.split(", ");
      expect(message).toBe(
        `the content-type must be one of ${types}, but is ${given}; for JSON add the header "content-type: ${json}"`,
      );
    }
  });

  test("the other kind's content type is none of an rpc, or of a stream", async () => {
    const [unary = ["", ""]] = paths;
    expect(await send(unary[0], "application/connect+json")).toMatchObject({ status: 415 });
    for (const path of streams) expect(await send(path, "application/json")).toMatchObject({ status: 415 });
  });

  test("a GET says what its query must have; it has no content", async () => {
    const path = "/offledger.metadata.v1.MetadataService/GetRegistryInfo?message=%7B%7D";
    for (const type of ["application/json", "application/grpc", "text/plain"])
      expect((await send(`${path}&encoding=json`, type, "GET")).status).toBe(400);
    for (const query of ["", "&encoding=xml"]) {
      const { status, headers, body } = await send(path + query, undefined, "GET");
      expect([query, status, headers["accept-post"]]).toEqual([query, 415, unaryTypes]);
      expect(JSON.parse(body.toString())).toMatchObject({
        code: "invalid_argument",
        message: expect.stringContaining("encoding=json or encoding=proto") as string,
      });
    }
  });
});
