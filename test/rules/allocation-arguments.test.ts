/** The required arguments of an allocation, and those that must match the path. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { account, allocationFactory, allocationV1, allocationV2, legSide, replaced } from "../fixtures/requests.js";
import { failure, short } from "../fixtures/context.js";
import { element, payload } from "../fixtures/elements.js";
import { registryOf } from "../fixtures/registries.js";
import { type Running, serve } from "../fixtures/run-service.js";

let running: Running;
beforeAll(async () => {
  const instruments = Array.from({ length: 26 }, (_, i) => `T${i}`);
  running = await serve(
    registryOf({}, ...instruments.map((id) => element("InstrumentConfiguration", id, payload.configuration(id)))),
  );
});
afterAll(() => running.close());

const alice = account("alice");
const legs = (length: number) => Array.from({ length }, () => legSide("SenderSide", "USD"));
const sidesOf = (length: number) => Array.from({ length }, (_, i) => legSide("ReceiverSide", `T${i}`));
const v1 = allocationV1("alice", "bob");
const v2 = allocationV2(alice, legs(1));
const leg = "choiceArguments.allocation.transferLeg";
const sides = "choiceArguments.allocation.transferLegSides";

describe.each(["v1", "v2"] as const)("under the path of %s", (version) => {
  const ask = async (body: JsonObject) => short(await running.post(allocationFactory(version), body));

  test.each([v1, v2])("the unchanged arguments are valid (case %#)", async (body) => {
    expect(await ask(body)).toMatchObject({ factoryId: "factory" });
  });

  test.each<[string, JsonObject]>([
    ["choiceArguments.expectedAdmin", v1],
    [`${leg}.instrumentId.admin`, v1],
    ["choiceArguments.expectedAdmin", v2],
    ["choiceArguments.allocation.admin", v2],
  ])("%s must be the registrar of the path (case %#)", async (field, body) => {
    expect(await ask(replaced(body, field, "registrar-2::1220"))).toEqual(failure(400, field.split(".").at(-1) ?? ""));
  });

  test.each<[string, JsonObject]>([
    ["choiceArguments", v1],
    ["choiceArguments.allocation", v1],
    [leg, v1],
    [`${leg}.sender`, v1],
    [`${leg}.instrumentId`, v1],
    [`${leg}.instrumentId.admin`, v1],
    [`${leg}.instrumentId.id`, v1],
    ["choiceArguments.allocation.authorizer", v2],
    ["choiceArguments.allocation.admin", v2],
    [`${sides}[0].instrumentId`, v2],
    [`${sides}[0].side`, v2],
  ])("%s is required, and the message names it", async (field, body) => {
    for (const value of [undefined, 5, null]) {
      expect(await ask(replaced(body, field, value))).toEqual(failure(400, field.split(".").at(-1) ?? ""));
    }
  });

  test("an account needs an owner or a provider, and each side must be valid", async () => {
    const usd = [legSide("SenderSide", "USD")];
    expect(await ask(allocationV2(account(null), usd))).toEqual(failure(400, "authorizer"));
    for (const side of ["senderside", "Sender", ""]) {
      expect(await ask(allocationV2(alice, [legSide(side, "USD")]))).toEqual(failure(400, "side"));
    }
    expect(await ask(replaced(v2, sides, "text"))).toEqual(failure(400, "transferLegSides"));
    expect(await ask(replaced(v2, `${sides}[0]`, null))).toEqual(failure(400, "transferLegSides[0]"));
  });

  test("a transfer leg or a list of sides is required, though the list may be empty", async () => {
    expect(await ask(replaced(v2, sides, undefined))).toEqual(failure(400, "transferLeg", "transferLegSides"));
    expect(await ask(allocationV2(alice, []))).toMatchObject({ factoryId: "factory" });
  });

  test("100 legs are allowed, 101 exceed the limit", async () => {
    expect(await ask(allocationV2(alice, legs(100)))).toMatchObject({ factoryId: "factory" });
    expect(await ask(allocationV2(alice, legs(101)))).toEqual(failure(400, " 100", "legs"));
  });

  test("25 instruments are allowed, 26 exceed the limit", async () => {
    expect(await ask(allocationV2(alice, sidesOf(25)))).toMatchObject({ factoryId: "factory" });
    expect(await ask(allocationV2(alice, sidesOf(26)))).toEqual(failure(400, " 25", "instruments"));
  });

  test.each<[string, JsonObject]>([
    ["choiceArguments.expectedAdmin", v1],
    ["choiceArguments.allocation.settlement", v1],
    [`${leg}.amount`, v1],
    ["choiceArguments.settlement", v2],
    ["choiceArguments.extraArgs", v2],
    [`${sides}[0].otherside`, v2],
    [`${sides}[0].amount`, v2],
  ])("%s is optional", async (field, body) => {
    expect(await ask(replaced(body, field, undefined))).toEqual(await ask(body));
  });
});
