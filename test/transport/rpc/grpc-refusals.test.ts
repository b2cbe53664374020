/**
 * Refused gRPC calls as frames: one HEADERS frame with END_STREAM. grpc-go, grpc-java, grpcio and grpc-js lose the
 * status of any other form; connect-es and buf read it.
 */
import { connect, type IncomingHttpHeaders } from "node:http2";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Config } from "../../../src/config/config.js";
import { serveFile } from "../../fixtures/run-service.js";

/** The flag of a frame (RFC 9113, section 6.2). */
const END_STREAM = 0x1;
const EMPTY_MESSAGE = Buffer.alloc(5);
const info = "/offledger.metadata.v1.MetadataService/GetRegistryInfo";

interface Refusal {
  readonly headers: IncomingHttpHeaders;
  readonly endsStream: boolean;
  readonly bodyLength: number;
}

async function startService(config: Partial<Config> = {}) {
  const running = await serveFile(undefined, { config });
  onTestFinished(() => running.close());
  return running;
}

async function call(url: string, path: string, more: Record<string, string> = {}): Promise<Refusal> {
  const session = connect(url);
  try {
    return await new Promise<Refusal>((resolve, reject) => {
      session.on("error", reject);
      const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers", ...more };
      const stream = session.request(headers);
      let refusal: Refusal | undefined;
      let bodyLength = 0;
      stream.on("response", (received, flags) => {
        refusal = { headers: received, endsStream: (flags & END_STREAM) !== 0, bodyLength: 0 };
      });
      stream.on("data", (chunk: Buffer) => (bodyLength += chunk.length));
      stream.on("error", reject);
      stream.on("close", () => {
        if (refusal === undefined) reject(new Error("the stream closed without a response"));
        else resolve({ ...refusal, bodyLength });
      });
      stream.end(EMPTY_MESSAGE);
    });
  } finally {
    session.destroy();
  }
}

const refused = (status: string, message: RegExp, more: IncomingHttpHeaders = {}) => ({
  headers: expect.objectContaining({
    ":status": 200,
    "content-type": expect.stringMatching(/^application\/grpc/) as string,
    "grpc-status": status,
    "grpc-message": expect.stringMatching(message) as string,
    // Decoded in ../error-details.test.ts.
    "grpc-status-details-bin": expect.stringMatching(/^[\w+/]{40,}$/) as string,
    ...more,
  }) as IncomingHttpHeaders,
  endsStream: true,
  bodyLength: 0,
});

describe("one HEADERS frame with END_STREAM", () => {
  test.each([
    ["an unknown operation", "/offledger.health.v1.HealthService/Nothing"],
    ["an unknown service", "/somebody.Else/Nothing"],
  ])("%s is unimplemented", async (_, path) => {
    const { url } = await startService();
    expect(await call(url, path)).toEqual(refused("12", /no operation [\w.]+\/Nothing$/));
  });

  test("an invalid message is invalid_argument", async () => {
    const { url } = await startService();
    expect(await call(url, info)).toEqual(refused("3", /registrar/));
  });

  // With a deadline, as most clients call. Clients retry a call only if they receive its status in the first frame.
  test.each([
    ["a deadline", { "grpc-timeout": "30S" }],
    ["compression", { "grpc-encoding": "gzip" }],
  ])("an invalid message with %s is invalid_argument", async (_, headers) => {
    const { url } = await startService();
    expect(await call(url, info, headers)).toEqual(refused("3", /registrar/));
  });

  test("a request over the rate limit is resource_exhausted", async () => {
    const { url } = await startService({ ratePerClient: 1 });
    const refusals: Refusal[] = [];
    for (let calls = 0; calls < 20 && refusals.length === 0; calls++) {
      const answer = await call(url, info);
      if (answer.headers["grpc-status"] === "8") refusals.push(answer);
    }
    expect(refusals).toEqual([refused("8", /rate limit exceeded: 1 requests per second/, { "retry-after": "1" })]);
  });

  test("a subtype other than proto and json is 415", async () => {
    const { url } = await startService();
    const { headers } = await call(url, info, { "content-type": "application/grpc+thrift" });
    expect(headers[":status"]).toBe(415);
  });
});
