/** Bodies, heads and paths: what is as large as the setting says passes, and what is larger is refused. */
import http from "node:http";
import http2 from "node:http2";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { transferFactory } from "../../fixtures/requests.js";
import { askHttp1, askHttp2, expectAlive, type Told } from "../../fixtures/plain-requests.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";

const BODY = 4_096;
const HEAD = 8_192;
const PATH = 1_024;
const rpc = "/offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory";

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined, { config: { maxBodyBytes: BODY, maxHeaderBytes: HEAD, maxPathBytes: PATH } });
});
afterAll(() => running.close());

type Ask = (path: string, headers: Readonly<Record<string, string>>, body: string | Buffer) => Promise<Told>;

/** Each over one connection, which has to outlive what is refused; `isLost` where the version of HTTP does not allow it. */
const versions: Readonly<Record<string, () => { readonly ask: Ask }>> = {
  "HTTP/1.1": () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    return { ask: (path, headers, body) => askHttp1(running.url, path, headers, body, agent) };
  },
  "HTTP/2": () => {
    const session = http2.connect(running.url).on("error", () => {});
    onTestFinished(() => session.destroy());
    return { ask: (path, headers, body) => askHttp2(session, path, headers, body) };
  },
};

const json = { "content-type": "application/json" };
const text = (length: number): string => "{}".padEnd(length, " ");

/** A message of one field that nobody knows, in an envelope of gRPC. */
function envelope(length: number): Buffer {
  const message = Buffer.alloc(length, "a");
  // Field 1000, with a length that is written in two bytes.
  message.writeUInt16BE(0xc23e, 0);
  message.writeUInt8(((length - 4) & 127) | 128, 2);
  message.writeUInt8((length - 4) >> 7, 3);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}
const bare = (length: number): Buffer => envelope(length).subarray(5);

const long = (length: number, path = transferFactory()) => `${path}?`.padEnd(length, "a");

/** Where the code stands: in the head, or in the last message of a body. */
function grpcStatus({ headers, body }: Told): string | undefined {
  const inHead = headers["grpc-status"];
  return typeof inHead === "string" ? inHead : /grpc-status: ?(\d+)/.exec(body)?.[1];
}

describe.each(Object.entries(versions))("over %s", (version, connect) => {
  test("the body of a REST operation, of a length that is said or not", async () => {
    const { ask } = connect();
    for (const headers of [json, { ...json, "content-length": "" }]) {
      const lengthOf = (length: number) =>
        headers === json
          ? { ...json, "content-length": String(length) }
          : version === "HTTP/2"
            ? json
            : { ...json, "transfer-encoding": "chunked" };
      // It has no arguments: it has been read.
      expect(await ask(transferFactory(), lengthOf(BODY), text(BODY))).toMatchObject({ status: 400 });
      const refused = await ask(transferFactory(), lengthOf(BODY + 1), text(BODY + 1));
      expect(refused).toMatchObject({ status: 413 });
      expect(JSON.parse(refused.body)).toEqual({ error: expect.any(String) as string });
      expect(await ask(transferFactory(), lengthOf(2), text(2))).toMatchObject({ status: 400 });
    }
    await expectAlive(running.url);
  });

  test("the message of a Connect call", async () => {
    const { ask } = connect();
    for (const [type, make] of [
      ["application/json", text],
      ["application/proto", bare],
    ] as const) {
      const headers = { "content-type": type };
      expect(JSON.parse((await ask(rpc, headers, make(BODY))).body)).toMatchObject({ code: "invalid_argument" });
      for (const length of [BODY + 1, 100 * BODY]) {
        const refused = await ask(rpc, headers, type === "application/json" ? text(length) : Buffer.alloc(length));
        expect(refused.status).toBe(429);
        expect(JSON.parse(refused.body)).toMatchObject({ code: "resource_exhausted" });
      }
    }
    await expectAlive(running.url);
  });

  test.each(version === "HTTP/2" ? ["application/grpc", "application/grpc-web+proto"] : ["application/grpc-web+proto"])(
    "the message of a call by %s",
    async (type) => {
      const { ask } = connect();
      const headers = { "content-type": type, te: "trailers" };
      // It names no registrar: it has been read.
      expect(grpcStatus(await ask(rpc, headers, envelope(BODY)))).toBe("3");
      expect(grpcStatus(await ask(rpc, headers, envelope(BODY + 1)))).toBe("8");
      expect(grpcStatus(await ask(rpc, headers, envelope(3 * BODY)))).toBe("8");
      expect(grpcStatus(await ask(rpc, headers, envelope(10)))).toBe("3");
      await expectAlive(running.url);
    },
  );

  test("the path with its query", async () => {
    const { ask } = connect();
    expect(await ask(long(PATH), json, "{}")).toMatchObject({ status: 400 });
    const refused = await ask(long(PATH + 1), json, "{}");
    expect(refused.status).toBe(414);
    const message = `path of ${PATH + 1} bytes exceeds the limit of ${PATH} bytes`;
    expect(JSON.parse(refused.body)).toEqual({ error: message });
    // Of a utility operation, of an rpc, and where nothing is served.
    const utility = await ask(long(PATH + 1, "/api/utilities/v0/operator"), json, "{}");
    expect([utility.status, JSON.parse(utility.body)]).toMatchObject([414, { error_description: message }]);
    expect(await ask(long(PATH + 1, "/nothing"), json, "{}")).toMatchObject({ status: 414 });
    const connectCall = await ask(long(PATH + 1, rpc), json, "{}");
    expect(JSON.parse(connectCall.body)).toEqual({ code: "invalid_argument", message });
    for (const type of ["application/grpc", "application/grpc-web+proto"]) {
      expect(grpcStatus(await ask(long(PATH + 1, rpc), { "content-type": type }, envelope(10)))).toBe("3");
    }
    expect(await ask(long(PATH), json, "{}")).toMatchObject({ status: 400 });
    await expectAlive(running.url);
  });
});

const head = (length: number) => ({ ...json, large: "a".repeat(length) });

test("a head over HTTP/1.1, whose connection is lost alone", async () => {
  // Names, the path and the request line take some of it.
  expect(await askHttp1(running.url, transferFactory(), head(HEAD - 1_024), "{}")).toMatchObject({ status: 400 });
  for (const length of [HEAD, 20 * HEAD]) {
    const refused = await askHttp1(running.url, transferFactory(), head(length), "{}");
    expect(refused.status).toBe(431);
    expect(JSON.parse(refused.body)).toEqual({
      error: "request header is too large",
    });
    expect(refused.headers["connection"]).toBe("close");
  }
  await expectAlive(running.url);
});
