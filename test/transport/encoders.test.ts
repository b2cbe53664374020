/** Responses assembled from chunks equal the encoding of the library, and each chunk is encoded once. */
import { toBinary, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StoredContract } from "../../src/domain/contract.js";
import type { AnyValue } from "../../src/registry/sdk/registry.js";
import { toBuffer } from "../../src/transport/encoding/disclosed-contract.js";
import { JSON_WRITE_OPTIONS } from "../../src/transport/encoding/encoders.js";
import { contract, type Kind, kinds, replyInput } from "../fixtures/replies.js";

const encodings = ({ encoder }: Kind, result: object): Buffer[] =>
  // Behind a prefix, as in a frame.
  [encoder.json(result), encoder.binary(result)].map((pieces) => toBuffer(pieces, 5).subarray(5));

describe.each(Object.entries(kinds))("%s", (_name, kind) => {
  test("equals the encoding of the library", () => {
    fc.assert(
      fc.property(replyInput, (given) => {
        const message = kind.message(given);
        const [json, binary] = encodings(kind, kind.result(given));
        expect(json?.toString()).toBe(toJsonString(kind.output, message, JSON_WRITE_OPTIONS));
        expect(binary?.equals(toBinary(kind.output, message))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("another entity tag for another value, factory, contract or synchronizer; the same one for the same", () => {
    const [given] = fc.sample(
      replyInput.filter(({ disclosed }) => disclosed.length > 0),
      { numRuns: 1, seed: 7 },
    );
    if (given === undefined) throw new Error("no sample");
    const etag = (one: typeof given) => kind.encoder.etag(kind.result(one));
    const [first, ...others] = given.disclosed;
    if (first === undefined) throw new Error("no contract");
    const value: AnyValue = { tag: "AV_Text", value: "another" };
    const changed = [
      { ...given, values: [...given.values, { name: "another", value }] },
      { ...given, disclosed: others },
      { ...given, disclosed: [{ ...first, contractId: "00another" }, ...others] },
      { ...given, disclosed: [{ ...first, synchronizerId: "another" }, ...others] },
      ...("factoryId" in kind.result(given) ? [{ ...given, factoryId: "00another" }] : []),
    ].map(etag);
    expect(new Set([etag(given), ...changed]).size).toBe(changed.length + 1);
    // The payload of a contract never changes; one that came back to its synchronizer is disclosed as before.
    expect(etag({ ...given, disclosed: [{ ...first, reassignmentCounter: 2 }, ...others] })).toBe(etag(given));
  });
});

test("with and without debug fields have different entity tags", () => {
  const [given] = fc.sample(replyInput, { numRuns: 1, seed: 7 });
  const tags = ["a context", "a context without debug fields"].map((name) => {
    const kind = kinds[name];
    return given === undefined ? "" : kind?.encoder.etag(kind.result(given));
  });
  expect(tags[0]).not.toBe(tags[1]);
});

test("a contract is encoded once in each form over a thousand responses", () => {
  let reads = 0;
  const counted = (one: StoredContract): StoredContract => {
    const { payload, views, createdEventBlob } = one.body;
    const body = {
      payload,
      views,
      encodings: undefined,
      get createdEventBlob() {
        reads++;
        return createdEventBlob;
      },
    };
    return { ...one, body };
  };
  const disclosed = fc.sample(contract, { numRuns: 7, seed: 1 }).map(counted);
  const given = { values: [], disclosed, factoryId: "factory" };
  for (let count = 0; count < 1_000; count++)
    for (const kind of Object.values(kinds)) encodings(kind, kind.result(given));
  // JSON and protobuf: with debug fields, without, and in the form of utility operations.
  expect(reads).toBe(2 * 3 * disclosed.length);
});
