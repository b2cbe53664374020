/** A JSON field of the wrong type is named in BadRequest, also where connect-es decodes the message. */
import { fromBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BadRequestSchema } from "../../../gen/google/rpc/error_details_pb.js";
import { detailsOfStatus, grpcHeaders } from "../../fixtures/error-details.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";

const PATH = "/offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory";
const BODY = JSON.stringify({ registrarParty: "a", choiceArguments: [] });
const MESSAGE = /^parse JSON: cannot decode message google\.protobuf\.Struct/;
const VIOLATION = { field: "choice_arguments", description: "must be an object, but is a list" };

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined);
});
afterAll(() => running.close());

type Detail = readonly [type: string, bytes: Uint8Array];

function violations(details: readonly Detail[]) {
  const [, bytes] = details.find(([type]) => type === "google.rpc.BadRequest") ?? [];
  if (bytes === undefined) return undefined;
  return fromBinary(BadRequestSchema, bytes).fieldViolations.map(({ field, description }) => ({ field, description }));
}

const json = { "content-type": "application/json" };

test.each<[string, RequestInit]>([
  ["on the fast path", { method: "POST", headers: json, body: BODY }],
  ["with a deadline", { method: "POST", headers: { ...json, "connect-timeout-ms": "50000" }, body: BODY }],
])("over Connect %s", async (_title, init) => {
  const response = await fetch(running.url + PATH, init);
  const { code, message, details } = (await response.json()) as {
    readonly code: string;
    readonly message: string;
    readonly details: readonly { readonly type: string; readonly value: string }[];
  };
  expect({ status: response.status, code }).toEqual({ status: 400, code: "invalid_argument" });
  expect(message).toMatch(MESSAGE);
  expect(violations(details.map(({ type, value }) => [type, Buffer.from(value, "base64")]))).toEqual([VIOLATION]);
});

function framed(text: string): Buffer {
  const frame = Buffer.alloc(5 + Buffer.byteLength(text));
  frame.writeUInt32BE(Buffer.byteLength(text), 1);
  frame.write(text, 5);
  return frame;
}

function expectStatus(code: unknown, message: unknown, encoded: unknown): void {
  const text = decodeURIComponent(String(message));
  expect(code).toBe("3");
  expect(text).toMatch(MESSAGE);
  expect(violations(detailsOfStatus(Buffer.from(String(encoded), "base64"), 3, text))).toEqual([VIOLATION]);
}

test("over gRPC with JSON", async () => {
  const more = { "content-type": "application/grpc+json" };
  const headers = await grpcHeaders(running.url, PATH, Buffer.from(BODY), more);
  expectStatus(headers["grpc-status"], headers["grpc-message"], headers["grpc-status-details-bin"]);
});

test("over gRPC-Web with JSON", async () => {
  const headers = { "content-type": "application/grpc-web+json" };
  const response = await fetch(running.url + PATH, { method: "POST", headers, body: new Uint8Array(framed(BODY)) });
  const frame = Buffer.from(await response.arrayBuffer());
  expect(frame[0]).toBe(0x80);
  const field = (name: string) => new RegExp(`^${name}: ?(.*)\r$`, "m").exec(frame.toString("latin1", 5))?.[1];
  expectStatus(field("grpc-status"), field("grpc-message"), field("grpc-status-details-bin"));
});
