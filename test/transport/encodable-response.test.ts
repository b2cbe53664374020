/** Responses assembled from chunks equal the encoding of the library, and each chunk is encoded once. */
import { toBinary, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AnyValue } from "../../src/registry/sdk/registry.js";
import { contextReply } from "../../src/service/messages.js";
import { JSON_WRITE_OPTIONS } from "../../src/transport/encoding/encodable-response.js";
import { encodeCounts } from "../../src/transport/encoding/disclosed-contract.js";
import type { ChunkList } from "../../src/transport/encoding/chunks.js";
import { contract, createResponse, forms, replyInput } from "../fixtures/replies.js";

/** The bytes that would be sent. */
const bytes = (chunks: ChunkList): Buffer => {
  // In the middle of a larger buffer, as in the pool.
  const memory = Buffer.alloc(chunks.length + 20, "#");
  expect(chunks.write(memory, 10)).toBe(10 + chunks.length);
  expect([memory.toString("latin1", 0, 10), memory.toString("latin1", 10 + chunks.length)]).toEqual([
    "#".repeat(10),
    "#".repeat(10),
  ]);
  return memory.subarray(10, 10 + chunks.length);
};

describe.each(Object.entries(forms))("%s", (_name, replyOf) => {
  test("equals the encoding of the library", () => {
    fc.assert(
      fc.property(replyInput, (given) => {
        const reply = replyOf(given);
        const written = createResponse(reply);
        const message = reply.message();
        expect(bytes(written.json()).toString()).toBe(toJsonString(reply.output, message, JSON_WRITE_OPTIONS));
        expect(bytes(written.binary()).equals(toBinary(reply.output, message))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

test("a contract is encoded once in each form over a thousand responses", () => {
  const disclosed = fc.sample(contract, { numRuns: 7, seed: 1 });
  const given = { values: [], disclosed, factoryId: "factory" };
  const before = { ...encodeCounts };
  for (let count = 0; count < 1_000; count++) {
    for (const replyOf of Object.values(forms)) {
      const reply = replyOf(given);
      createResponse(reply).json();
      createResponse(reply).binary();
    }
  }
  // With debug fields, without, and in the form of utility operations.
  const forEach = 3 * disclosed.length;
  expect({ json: encodeCounts.json - before.json, binary: encodeCounts.binary - before.binary }).toEqual({
    json: forEach,
    binary: forEach,
  });
});

test("a reference to a disclosed contract is encoded like any other", () => {
  fc.assert(
    fc.property(contract, (one) => {
      const written = [one, undefined].map((disclosed) => {
        const value: AnyValue = {
          tag: "AV_ContractId",
          value: one.contractId,
          ...(disclosed !== undefined && { contract: disclosed }),
        };
        const response = createResponse(contextReply({ values: [{ name: "rule", value }], disclosed: [one] }, true));
        return [response.json(), response.binary(), response.json(), response.binary()].map(bytes);
      });
      expect(written[0]).toEqual(written[1]);
    }),
  );
});
