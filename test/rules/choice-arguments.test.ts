/** The required choice arguments, and those that must match the path. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import {
  account,
  sampleRequests,
  settlementFactory,
  transferFactory,
  transferV1,
  transferV2,
} from "../fixtures/requests.js";
import { failure, short } from "../fixtures/context.js";
import { instructions, registryOf } from "../fixtures/registries.js";
import { type Running, serve } from "../fixtures/run-service.js";

let running: Running;
beforeAll(async () => {
  running = await serve(registryOf({}, ...instructions()));
});
afterAll(() => running.close());

const transfer = async (body: JsonObject) => short(await running.post(transferFactory(), body));
const settle = async (body: JsonObject) => short(await running.post(settlementFactory(), body));

const v1 = transferV1("alice", "bob");
const v2 = transferV2(account("alice"), account("bob"));
const settled = sampleRequests[1].body;

const offer = { factoryId: "factory", transferKind: "offer" };

test("the unchanged arguments are valid", async () => {
  expect(await transfer(v1)).toMatchObject(offer);
  expect(await transfer(v2)).toMatchObject(offer);
  expect(await settle(settled)).toMatchObject({ factoryId: "factory" });
});

describe("of a transfer", () => {
  test.each<[version: string, field: string, body: JsonObject]>([
    ["v1", "transfer", v1],
    ["v1", "transfer.sender", v1],
    ["v1", "transfer.receiver", v1],
    ["v1", "transfer.instrumentId", v1],
    ["v1", "transfer.instrumentId.admin", v1],
    ["v1", "transfer.instrumentId.id", v1],
    ["v2", "transfer", v2],
    ["v2", "transfer.sender", v2],
    ["v2", "transfer.receiver", v2],
    ["v2", "transfer.instrumentId", v2],
    ["v2", "transfer.instrumentId.admin", v2],
    ["v2", "transfer.instrumentId.id", v2],
  ])("the shape of %s requires %s, and the message has its path", async (_, field, body) => {
    for (const value of [undefined, 5, null]) {
      expect(await transfer(replaced(body, field, value))).toEqual(failure(400, field));
    }
  });

  test.each(["sender", "receiver"])("the %s's account needs an owner or a provider", async (side) => {
    const body = replaced(v2, `transfer.${side}`, account(null));
    expect(await transfer(body)).toEqual(failure(400, `transfer.${side}`));
  });

  test.each(["sender.owner", "receiver.owner"])("the %s, if present, is a party", async (field) => {
    expect(await transfer(replaced(v2, `transfer.${field}`, 5))).toEqual(failure(400, `transfer.${field}`));
  });

  test.each(["sender", "receiver"])("the %s's provider is a party if the owner is absent", async (side) => {
    const body = replaced(v2, `transfer.${side}`, { owner: null, provider: 5, id: "" });
    expect(await transfer(body)).toEqual(failure(400, `transfer.${side}.provider`));
  });

  test("the expected admin, if present, is the registrar of the path", async () => {
    expect(await transfer(replaced(v1, "expectedAdmin", "registrar-2::1220"))).toEqual(failure(400, "expectedAdmin"));
    expect(await transfer(replaced(v1, "expectedAdmin", undefined))).toMatchObject(offer);
  });

  test.each([v1, v2])("the instrument's admin is the registrar of the path (case %#)", async (body) => {
    const other = replaced(body, "transfer.instrumentId.admin", "registrar-2::1220");
    expect(await transfer(other)).toEqual(failure(400, "instrumentId.admin"));
  });
});

describe("of a settlement", () => {
  test.each([
    "transferLegs",
    "transferLegs[0].sender",
    "transferLegs[0].receiver",
    "transferLegs[0].instrumentId",
    "allocations",
    "allocations[0].allocationCid",
  ])("%s is required, and the message has its path", async (field) => {
    for (const value of [undefined, 5, null]) {
      expect(await settle(replaced(settled, field, value))).toEqual(failure(400, field));
    }
  });

  test.each(["transferLegs[0]", "allocations[0]"])("%s must be an object", async (field) => {
    for (const value of ["text", 5, null]) {
      expect(await settle(replaced(settled, field, value))).toEqual(failure(400, field));
    }
  });

  test.each(["sender", "receiver"])("the %s's account needs an owner or a provider", async (side) => {
    const field = `transferLegs[0].${side}`;
    expect(await settle(replaced(settled, field, account(null)))).toEqual(failure(400, field));
  });

  test.each(["settlement", "actors", "extraArgs", "transferLegs[0].amount", "allocations[0].extraTransferLegSides"])(
    "%s is optional",
    async (field) => {
      expect(await settle(replaced(settled, field, undefined))).toEqual(await settle(settled));
    },
  );
});

/** A copy with another value at a path in the arguments; undefined removes it. */
function replaced(body: JsonObject, field: string, value: JsonValue | undefined): JsonObject {
  const copy = structuredClone(body);
  const steps = ["choiceArguments", ...field.split(/[.[\]]+/).filter((step) => step !== "")];
  const last = steps.pop() ?? "";
  let inner = copy;
  for (const step of steps) inner = inner[step] as JsonObject;
  if (value === undefined) delete inner[last];
  else inner[last] = value;
  return copy;
}
