/** Responses joined from compressed chunks: one gzip member each, of exactly the bytes of the uncompressed response. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DeflateCache } from "../../../src/transport/compression/deflate-cache.js";
import { GzipBody } from "../../../src/transport/compression/gzip-body.js";
import { TokenBucket } from "../../../src/transport/compression/token-bucket.js";
import { ChunkList } from "../../../src/transport/encoding/chunk-list.js";
import { encodeCounts, jsonElement } from "../../../src/transport/encoding/disclosed-contract.js";
import { gunzipMember } from "../../fixtures/gzip-member.js";
import { contractOf, createResponse, forms, replyInput, type ReplyInput } from "../../fixtures/replies.js";

const MANY = 1_000_000;
const createCache = (maxBytes = MANY, atOnce = MANY) => new DeflateCache(maxBytes, new TokenBucket(atOnce, 0));

/** A bucket that allows every second action. */
function everySecond(): TokenBucket {
  let now = 0;
  return new TokenBucket(1, 500, () => now++);
}

function plainBytes(message: ChunkList): Buffer {
  const bytes = Buffer.alloc(message.length);
  message.write(bytes, 0);
  return bytes;
}

/** Undefined where compression gains nothing. */
function gzipBytes(message: ChunkList, cache: DeflateCache): Buffer | undefined {
  const body = GzipBody.of(message, cache);
  if (body === undefined) return undefined;
  // In the middle of a larger buffer, as in the pool.
  const memory = Buffer.alloc(body.length + 20, "#");
  expect(body.write(memory, 10)).toBe(10 + body.length);
  expect(memory.toString("latin1", 0, 10) + memory.toString("latin1", 10 + body.length)).toBe("#".repeat(20));
  return memory.subarray(10, 10 + body.length);
}

/** Whether it was compressed. */
function check(message: ChunkList, cache: DeflateCache): boolean {
  const compressed = gzipBytes(message, cache);
  if (compressed === undefined) return false;
  expect(compressed.length).toBeLessThan(message.length);
  expect(gunzipMember(compressed).equals(plainBytes(message))).toBe(true);
  return true;
}

const messagesOf = (input: ReplyInput): ChunkList[] =>
  Object.values(forms).flatMap((replyOf) => {
    const response = createResponse(replyOf(input));
    return [response.json(), response.binary()];
  });

/** Contracts whose text repeats, so that compression gains. */
const compressible = fc
  .record({ contractId: fc.stringMatching(/^[0-9a-f]{60,140}$/), text: fc.string({ minLength: 1, maxLength: 5 }) })
  .map(({ contractId, text }) =>
    contractOf({
      contractId,
      payload: { text: text.repeat(100) },
      blob: Buffer.from(text.repeat(300)).toString("base64"),
      synchronizer: "a",
    }),
  );
const input = fc.record({
  given: replyInput,
  contracts: fc.array(compressible, { maxLength: 6 }),
  // Some contracts are disclosed again, or twice in a response.
  order: fc.array(fc.nat({ max: 5 }), { maxLength: 8 }),
});

describe("a response decompresses to its uncompressed bytes", () => {
  test.each([
    ["with all chunks compressed", () => createCache()],
    ["with some chunks compressed", () => new DeflateCache(MANY, everySecond())],
    ["with a cache that drops chunks all the time", () => createCache(2_000)],
  ])("%s", (_what, createOne) => {
    const cache = createOne();
    let compressed = 0;
    fc.assert(
      fc.property(input, ({ given, contracts, order }) => {
        const disclosed = [...given.disclosed, ...order.flatMap((index) => contracts[index] ?? [])];
        const references = disclosed.map((one, index) => ({
          name: `entry/${index}`,
          alias: `e${index}`,
          value: { tag: "AV_ContractId" as const, value: one.contractId, contract: one },
        }));
        for (const message of messagesOf({ ...given, values: [...given.values, ...references], disclosed })) {
          if (check(message, cache)) compressed++;
        }
      }),
      { numRuns: 100 },
    );
    expect(compressed).toBeGreaterThan(10);
  });
});

const repetitive = contractOf({ contractId: "00aa", payload: {}, blob: "A".repeat(20_000), synchronizer: "a" });
const MAX_STORED = 65_535;
const around = (length: number): number[] => Array.from({ length: 21 }, (_, index) => length - 10 + index);

test("stored blocks hold any number of bytes, and the byte that closes a list may be the last of a block", () => {
  for (const length of [1, 2, ...around(MAX_STORED), ...around(2 * MAX_STORED), ...around(3 * MAX_STORED), 1_000_000]) {
    const message = new ChunkList();
    message.addElements([repetitive], jsonElement.plain);
    // The last byte of the contract is in the same block.
    message.add(Buffer.alloc(length - 1, "stored "));
    message.add(",".padStart(3, "."));
    message.close("]", false);
    message.addElements([repetitive], jsonElement.plain);
    message.add("}".repeat(length));
    expect(check(message, createCache())).toBe(true);
  }
});

test("a response that compression does not make shorter is sent as it is", () => {
  const messages = messagesOf({ values: [], disclosed: [{ ...repetitive, slots: undefined }], factoryId: "factory" });
  expect(messages.map((message) => check(message, createCache(MANY, 0)))).not.toContain(true);
  expect(messages.map((message) => check(message, createCache()))).not.toContain(false);
});

test("a contract is compressed and encoded once in each form over a hundred responses", () => {
  const disclosed = fc.sample(compressible, { numRuns: 7, seed: 1 });
  const cache = createCache();
  const before = { ...encodeCounts };
  for (let count = 0; count < 100; count++) {
    for (const message of messagesOf({ values: [], disclosed, factoryId: "factory" })) check(message, cache);
  }
  // With debug fields, without, and in the form of utility operations.
  const inEachEncoding = 3 * disclosed.length;
  expect({
    compressed: cache.count,
    json: encodeCounts.json - before.json,
    binary: encodeCounts.binary - before.binary,
  }).toEqual({ compressed: 2 * inEachEncoding, json: inEachEncoding, binary: inEachEncoding });
});
