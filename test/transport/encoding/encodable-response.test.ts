/** Responses assembled from chunks equal the encoding of the library, and each chunk is encoded once. */
import { toBinary, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AnyValue, Contract, NamedValue } from "../../../src/registry/sdk/registry.js";
import {
  type ContextReply,
  contextReply,
  factoryReply,
  transferFactoryReply,
  utilityContextReply,
  utilityFactoryReply,
} from "../../../src/service/context-reply.js";
import { EncodableResponse } from "../../../src/transport/encoding/encodable-response.js";
import { JSON_WRITE_OPTIONS } from "../../../src/transport/encoding/json-options.js";
import { encodeCounts } from "../../../src/transport/encoding/disclosed-contract.js";
import type { ChunkList } from "../../../src/transport/encoding/chunk-list.js";

// A Struct loses the key __proto__: see docs/decisions/response-content.md.
const name = fc.string({ unit: "binary", maxLength: 20 }).filter((text) => text !== "__proto__" && isWellFormed(text));
const text = fc.string({ unit: "binary", maxLength: 40 }).filter(isWellFormed);
const id = fc.stringMatching(/^[0-9a-f]{1,140}$/);

const template = { packageName: "package-é", qualifiedName: "Module:Entity", parse: () => undefined };

interface ContractFields {
  readonly contractId: string;
  readonly payload: Record<string, unknown>;
  readonly blob: string;
  readonly synchronizer: string;
}

function contractOf({ contractId, payload, blob, synchronizer }: ContractFields): Contract {
  return {
    contractId,
    template,
    templateId: "package:Module:Entity",
    payload: JSON.stringify(payload),
    fields: null,
    indexKeys: [],
    createdEventBlob: blob,
    createdAt: "2026-01-05T09:00:00.123456Z",
    createdMicros: 0,
    synchronizerId: `sync-${synchronizer}`,
    reassignmentCounter: 0,
    supply: undefined,
    slots: undefined,
  };
}

/** UTF-8 cannot encode a lone surrogate. */
function isWellFormed(value: string): boolean {
  return !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(value);
}

/** Includes names that look like an index, which objects order first; values that repeat under adjacent names; aliases. */
const named = (value: fc.Arbitrary<AnyValue>, maxLength: number): fc.Arbitrary<NamedValue[]> =>
  fc
    .uniqueArray(
      fc.record({
        name: fc.oneof(name, fc.nat({ max: 30 }).map(String)),
        value,
        repeats: fc.constantFrom("nothing", "value", "alias"),
      }),
      { maxLength, selector: (one) => one.name },
    )
    .map((all) => {
      const values: NamedValue[] = [];
      for (const { name: own, value: another, repeats } of all) {
        const last = values.at(-1);
        if (last === undefined || repeats === "nothing") values.push({ name: own, value: another });
        else if (repeats === "value" || last.alias !== undefined) values.push({ name: own, value: last.value });
        else values.splice(-1, 1, { ...last, alias: own });
      }
      return values;
    });

/** Contracts that several values refer to, under any names. */
const referred = ["00aa", "00bb", "00cc"].map((contractId) =>
  contractOf({ contractId, payload: {}, blob: "", synchronizer: "a" }),
);
const reference = fc
  .constantFrom(...referred)
  .map((contract): AnyValue => ({ tag: "AV_ContractId", value: contract.contractId, contract }));

const { value: anyValue } = fc.letrec<{ value: AnyValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.record({ tag: fc.constant("AV_ContractId" as const), value: fc.oneof(id, text) }),
    reference,
    reference.map((one): AnyValue => ({ tag: "AV_List", value: [one] })),
    fc.record({ tag: fc.constant("AV_Bool" as const), value: fc.boolean() }),
    fc.record({ tag: fc.constantFrom("AV_Text" as const, "AV_Decimal" as const, "AV_Party" as const), value: text }),
    fc.record({ tag: fc.constant("AV_List" as const), value: fc.array(tie("value"), { maxLength: 4 }) }),
    fc.record({ tag: fc.constant("AV_Map" as const), value: named(tie("value"), 4) }),
  ),
}));

const json = fc
  .jsonValue({ maxDepth: 3, stringUnit: "grapheme" })
  .filter((value) => !JSON.stringify(value).includes("__proto__"));
const contract = fc
  .record({
    contractId: id,
    payload: fc.dictionary(name, json, { maxKeys: 4 }),
    blob: fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64")),
    synchronizer: text,
  })
  .map(contractOf);

const replyInput = fc.record({
  values: named(anyValue, 6),
  disclosed: fc.array(contract, { maxLength: 5 }),
  factoryId: fc.oneof(
    id,
    text.filter((value) => value !== ""),
  ),
});

/** Every kind of reply, with and without debug fields. */
const forms: Readonly<
  Record<string, (given: { values: NamedValue[]; disclosed: Contract[]; factoryId: string }) => ContextReply>
> = {
  "a context": (given) => contextReply(given, false),
  "a context without debug fields": (given) => contextReply(given, true),
  "a factory": (given) => factoryReply(given, false),
  "a factory of a transfer": (given) => transferFactoryReply({ ...given, transferKind: "direct" }, true),
  "a utility context": (given) => utilityContextReply(given),
  "a utility factory": (given) => utilityFactoryReply(given),
};

const createResponse = (reply: ContextReply): EncodableResponse =>
  new EncodableResponse(reply.output, reply, (error) => (error instanceof Error ? error : new Error("not an error")));

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
