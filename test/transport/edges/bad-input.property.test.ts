/** Random invalid input: never a 5xx, never a hang, always the documented error body. */
import http2 from "node:http2";
import { request as httpRequest } from "node:http";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractId, party } from "../../../demo/element.js";
import { requestHttp2 } from "../../fixtures/http-requests.js";
import { registry, type Running, serveFile } from "../../fixtures/run-service.js";

const acme = party("acme-registrar");
const account = (owner: string): JsonObject => ({ owner: party(owner), provider: null, id: "" });

/** Valid requests, to mutate. */
const valid: Readonly<Record<string, JsonValue>> = {
  [`${registry(acme)}/allocation/v2/settlement-factory`]: {
    choiceArguments: {
      settlement: { executors: [party("alice")], id: "t", cid: null, meta: { values: {} } },
      transferLegs: [
        { transferLegId: "1", sender: account("alice"), receiver: account("bob"), instrumentId: "ACME-EUR" },
      ],
      allocations: [{ allocationCid: contractId("allocation euro leg") }],
    },
    excludeDebugFields: true,
  },
  [`${registry(acme)}/transfer-instruction/v1/transfer-factory`]: {
    choiceArguments: {
      expectedAdmin: acme,
      transfer: { sender: party("alice"), receiver: account("bob"), instrumentId: { admin: acme, id: "ACME-EUR" } },
    },
  },
  [`${registry(acme)}/transfer-instruction/v2/${contractId("offer bond to bob")}/choice-contexts/reject`]: {
    meta: { values: {} },
    excludeDebugFields: false,
  },
  "/api/utilities/v0/contract/instrument-configuration": {
    registrar: acme,
    instrumentIdentifier: { source: "ISO", id: "EU000A1ACME7", scheme: "ISIN" },
  },
};
const paths = Object.keys(valid);
const procedures = [
  "/offledger.allocation.v2.AllocationService/GetSettlementFactory",
  "/offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory",
  "/offledger.transfer_instruction.v2.TransferInstructionService/GetTransferInstructionRejectContext",
  "/offledger.instrument_configuration.v0.InstrumentConfigurationService/GetInstrumentConfiguration",
];

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined);
});
afterAll(() => running.close());

/** Sends bytes to a path that need not be a valid URL. A hang fails by the timeout. */
function send(path: string, contentType: string, body: Uint8Array): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(running.url);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path, method: "POST", timeout: 20_000 }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
      });
    });
    request.on("timeout", () => request.destroy(new Error(`no response from ${path}`)));
    request.on("error", reject);
    request.setHeader("content-type", contentType);
    request.end(body);
  });
}

function expectDocumented(path: string, { status, text }: { status: number; text: string }): void {
  expect([200, 400, 404, 409, 413, 415]).toContain(status);
  if (status === 200) return;
  const body = JSON.parse(text) as Record<string, unknown>;
  const family = path.startsWith("/api/utilities/") ? ["error", "error_description"] : ["error"];
  expect(Object.keys(body)).toEqual(family);
  for (const name of family) expect(body[name]).toEqual(expect.stringMatching(/./));
  expect(text).not.toMatch(/ at .*\.(js|ts):\d|node_modules/);
}

const json = (value: JsonValue): Uint8Array => Buffer.from(JSON.stringify(value));

/** Removes or replaces a random part of a value. */
function mutate(value: JsonValue): fc.Arbitrary<JsonValue> {
  const places = listPaths(value, []);
  return fc
    .tuple(fc.constantFrom(...places), fc.option(fc.jsonValue({ maxDepth: 2 }), { nil: undefined }))
    .map(([place, replacement]) => replaced(value, place, replacement as JsonValue | undefined));
}

type Path = readonly (string | number)[];

function listPaths(value: JsonValue, at: Path): Path[] {
  if (typeof value !== "object" || value === null) return [at];
  const entries: [string | number, JsonValue][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [at, ...entries.flatMap(([key, inner]) => listPaths(inner, [...at, key]))];
}

function replaced(value: JsonValue, [key, ...rest]: Path, replacement: JsonValue | undefined): JsonValue {
  if (key === undefined) return replacement ?? null;
  const gone = rest.length === 0 && replacement === undefined;
  if (Array.isArray(value)) {
    const index = Number(key);
    const inner = gone ? [] : [replaced(value[index] ?? null, rest, replacement)];
    return [...value.slice(0, index), ...inner, ...value.slice(index + 1)];
  }
  const fields = Object.entries(value as JsonObject).flatMap(([name, inner]): [string, JsonValue][] => {
    if (name !== key) return [[name, inner]];
    return gone ? [] : [[name, replaced(inner, rest, replacement)]];
  });
  return Object.fromEntries(fields);
}

describe("REST", () => {
  test.each(paths)("%s with any JSON", async (path) => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), async (value) => {
        expectDocumented(path, await send(path, "application/json", json(value as JsonValue)));
      }),
    );
  });

  test.each(paths)("%s with a mutated request", async (path) => {
    await fc.assert(
      fc.asyncProperty(mutate(valid[path] ?? {}), async (value) => {
        expectDocumented(path, await send(path, "application/json", json(value)));
      }),
      { numRuns: 200 },
    );
  });

  test("any bytes with any content type", async () => {
    const type = fc.constantFrom(
      "application/json",
      "text/plain",
      "application/json; charset=utf-16",
      "application/grpc",
      "x",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        type,
        fc.uint8Array({ maxLength: 300 }),
        async (path, contentType, body) => {
          expectDocumented(path, await send(path, contentType, body));
        },
      ),
      { numRuns: 300 },
    );
  });

  test("any ids in the path", async () => {
    const id = fc.oneof(
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }).map(encodeURIComponent),
      fc.stringMatching(/^[\w%:;.~-]{1,60}$/),
      fc.integer({ min: 100, max: 5_000 }).map((length) => "0".repeat(length)),
    );
    const shape = fc.constantFrom(
      (a: string, b: string) =>
        `/api/token-standard/v0/registrars/${a}/registry/transfer-instruction/v2/${b}/choice-contexts/reject`,
      (a: string, b: string) =>
        `/api/token-standard/v0/registrars/${a}/registry/allocations/v1/${b}/choice-contexts/withdraw`,
      (a: string, _b: string) => `/api/utilities/v0/registry/burn/v0/request/${a}/choice-contexts/accept`,
    );
    await fc.assert(
      fc.asyncProperty(shape, id, id, async (path, a, b) => {
        expectDocumented(path(a, b), await send(path(a, b), "application/json", json({})));
      }),
      { numRuns: 300 },
    );
  });
});

describe("RPC", () => {
  // Invalid requests are 3, 5 or 10: invalid_argument, not_found, aborted. For broken framing gRPC prescribes
  // 8 when the declared length is too large, 12 without a message, 13 for undeclared compression.
  const invalid = ["3", "5", "10"];
  const broken = [...invalid, "8", "12", "13"];
  const framed = fc.uint8Array({ maxLength: 200 }).map((bytes) => ({ body: envelope(bytes), statuses: invalid }));
  const raw = fc.uint8Array({ maxLength: 200 }).map((body) => ({ body, statuses: broken }));

  test("any bytes over Connect", async () => {
    const types = fc.constantFrom("application/json", "application/proto");
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...procedures),
        types,
        fc.uint8Array({ maxLength: 200 }),
        async (path, type, body) => {
          expect([200, 400, 404, 409]).toContain((await send(path, type, body)).status);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("any bytes over gRPC-Web", async () => {
    const types = fc.constantFrom("application/grpc-web+proto", "application/grpc-web+json");
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...procedures), types, fc.oneof(framed, raw), async (path, type, sent) => {
        const { status, text } = await send(path, type, sent.body);
        expect(status).toBe(200);
        // connect-es answers "internal" to bytes that are no message.
        expect([...sent.statuses, "13"]).toContain(/grpc-status: ?(\d+)/i.exec(text)?.[1]);
      }),
      { numRuns: 300 },
    );
  });

  test("any bytes over gRPC", async () => {
    const session = http2.connect(running.url);
    try {
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...procedures), fc.oneof(framed, raw), async (path, { body, statuses }) => {
          const headers = { "content-type": "application/grpc+proto", te: "trailers" };
          const { headers: received } = await requestHttp2(session, path, headers, Buffer.from(body));
          expect(statuses).toContain(received["grpc-status"]);
        }),
        { numRuns: 300 },
      );
    } finally {
      session.close();
    }
  });
});

/** A gRPC message: flag, length, bytes. */
function envelope(bytes: Uint8Array): Uint8Array {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}
