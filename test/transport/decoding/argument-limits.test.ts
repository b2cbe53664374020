/** Limits on depth and size of the choice arguments, over every protocol. */
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TransferInstructionService } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import type { JsonObject, JsonValue } from "../../../src/domain/json.js";
import { acme, alice, bob, factory } from "../../fixtures/calls/build.js";
import { transferV1 } from "../../fixtures/calls/transfer-instruction.js";
import { expectAlive } from "../../fixtures/http-requests.js";
import { type Call, protocols } from "../../fixtures/protocols.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";

const DEPTH = 12;
const KEYS = 200;
/** A Connect GET has the request in its path, which has a limit of its own. */
const PATH = 65_536;

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined, {
    config: { maxArgumentDepth: DEPTH, maxArgumentKeys: KEYS, maxPathBytes: PATH, maxHeaderBytes: 2 * PATH },
  });
});
afterAll(() => running.close());

const plain = transferV1(alice, bob, "ACME-EUR");

/** A transfer-factory call with an additional argument. */
function createCall(more: JsonValue): Call {
  const choiceArguments: JsonObject = { ...plain, more };
  return factory(
    TransferInstructionService.method.getTransferFactory,
    acme,
    "/transfer-instruction/v1/transfer-factory",
    {
      choiceArguments,
    },
  );
}

/** Nested lists or objects. The arguments themselves are the first level. */
function nested(depth: number, of: "lists" | "objects"): JsonValue {
  let value: JsonValue = of === "lists" ? [] : {};
  for (let at = 2; at < depth; at++) value = of === "lists" ? [value] : { a: value };
  return value;
}

/** Counts keys and elements. The root is neither. */
function countKeys(value: JsonValue): number {
  let seen = -1;
  JSON.stringify(value, (_key, one: unknown) => {
    seen++;
    return one;
  });
  return seen;
}

const times = (count: number, value: JsonValue): JsonValue[] => Array.from({ length: count }, () => value);

/** Values with a given number of keys and elements. */
const filled: Readonly<Record<string, (count: number) => JsonValue>> = {
  elements: (count) => times(count, 1),
  keys: (count) => Object.fromEntries(times(count, 1).map((one, at) => [`k${at}`, one])),
  "keys in elements": (count) => [...times(Math.floor(count / 2), { k: null }), ...times(count % 2, 1)],
};

const tooDeep = {
  ok: false,
  code: Code.InvalidArgument,
  message: expect.stringContaining(`deeper than the limit of ${DEPTH}`) as string,
};
const tooMany = {
  ok: false,
  code: Code.InvalidArgument,
  message: expect.stringContaining(`more keys and elements than the limit of ${KEYS}`) as string,
};

describe.each(Object.entries(protocols))("over %s", (_name, send) => {
  test.each(["lists", "objects"] as const)("%s may be nested up to the limit", async (of) => {
    expect(await send(running.url, createCall(nested(DEPTH, of)))).toMatchObject({ ok: true });
    expect(await send(running.url, createCall(nested(DEPTH + 1, of)))).toMatchObject(tooDeep);
  });

  test.each(Object.entries(filled))("%s are limited in number", async (_what, fill) => {
    // `more` is a key, too.
    const left = KEYS - countKeys({ ...plain, more: 0 });
    const [fits, more] = [fill(left), fill(left + 1)];
    expect([countKeys({ ...plain, more: fits }), countKeys({ ...plain, more })]).toEqual([KEYS, KEYS + 1]);
    expect(await send(running.url, createCall(fits))).toMatchObject({ ok: true });
    expect(await send(running.url, createCall(more))).toMatchObject(tooMany);
  });
});

/** The decoders have limits of their own, which must not be below the largest setting. */
describe("with the largest setting", () => {
  const LARGEST = 50;
  let deepest: Running;
  beforeAll(async () => {
    deepest = await serveFile(undefined, {
      config: { maxArgumentDepth: LARGEST, maxPathBytes: PATH, maxHeaderBytes: 2 * PATH },
    });
  });
  afterAll(() => deepest.close());

  test.each(Object.entries(protocols))("the setting decides over %s", async (_name, send) => {
    for (const of of ["lists", "objects"] as const) {
      expect(await send(deepest.url, createCall(nested(LARGEST, of)))).toMatchObject({ ok: true });
    }
  });
});

test("extreme depth is rejected, and the service stays responsive", async () => {
  const depth = 200_000;
  const text = `{"choiceArguments":{"a":${"[".repeat(depth)}${"]".repeat(depth)}}}`;
  const headers = { "content-type": "application/json" };
  const rpc = "/offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory";
  for (const path of [createCall(1).path, rpc]) {
    const { status } = await fetch(running.url + path, { method: "POST", headers, body: text });
    expect(status).toBe(400);
    await expectAlive(running.url);
  }
});
