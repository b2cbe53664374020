/** Requests that fail: the ledger is unavailable, there is none, or the request is invalid. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../../src/util/json.js";
import { serving } from "../../../fixtures/registries.js";
import { proofAt, Proving, proving, success, transfer, transferring, unknownId } from "./proof-service.js";

const place = proving();
const message = expect.stringMatching(/./) as string;

/** The whole response of a request. */
async function refusal(body: JsonValue, url = place.url): Promise<readonly [number, JsonObject]> {
  const { status, text } = await proofAt(url, body);
  return [status, JSON.parse(text) as JsonObject];
}

describe("without the ledger", () => {
  const away = { error: "unavailable", error_description: "the ledger cannot be asked for its updates now" };

  test("it is unavailable", async () => {
    const own = new Proving();
    await own.start();
    onTestFinished(() => own.stop());
    const id = own.transact(transferring("factory"));
    expect(await own.status(id)).toBe(success);
    await own.participant.stop();
    const { status, headers, text } = await own.ask(id);
    expect(status).toBe(503);
    expect(headers["retry-after"]).toBe("1");
    expect(JSON.parse(text)).toEqual(away);
  });
});

test("a file has no updates, and the message says so", async () => {
  const { url } = await serving([]);
  expect(await refusal({ updateId: "1220", transfer }, url)).toEqual([
    404,
    { error: "not_found", error_description: expect.stringContaining("file") as string },
  ]);
});

const without = (name: string): JsonObject =>
  Object.fromEntries(Object.entries(transfer).filter(([key]) => key !== name));
const updateId = unknownId;
const wrong: [string, JsonValue][] = [
  ["no transfer", { updateId }],
  ["a transfer that is null", { updateId, transfer: null }],
  ["no update id", { transfer }],
  ["an empty update id", { updateId: "", transfer }],
  // Protobuf does not distinguish a missing list from an empty one.
  ...Object.keys(transfer)
    .filter((name) => name !== "inputHoldingCids")
    .map((name): [string, JsonValue] => [`no ${name}`, { updateId, transfer: without(name) }]),
];
/** Wrong values of a field. */
const values: Readonly<Record<string, readonly JsonValue[]>> = {
  sender: ["", 5],
  receiver: [""],
  amount: ["", "many", "1.", ".5", "1e3", "1,0", "0x10", " 1.0", "1.00000000000", "1".repeat(29), true],
  instrumentId: [{}, { admin: "registrar::1220" }, { id: "USD" }, "USD"],
  requestedAt: ["", "soon", "2026-01-05", "2026-01-05T09:00:00", "2026-02-30T09:00:00Z", 1_767_603_600],
  executeBefore: ["", "soon", "2026-13-05T09:00:00Z", "1767603600"],
  inputHoldingCids: ["input-1", [5]],
  meta: ["meta", { values: { a: 1 } }, { values: [] }],
};

describe("an invalid request with", () => {
  test.each(wrong)("%s", async (_, body) => {
    expect(await refusal(body)).toEqual([400, { error: "invalid_argument", error_description: message }]);
  });

  test.each(Object.entries(values))("a wrong %s, names it", async (name, wrongValues) => {
    // Its name, as JSON or as the definition of the message spells it.
    const spelled = new RegExp(name.replaceAll(/(?=[A-Z])/g, "_?"), "i");
    const named = [400, { error: "invalid_argument", error_description: expect.stringMatching(spelled) as string }];
    for (const value of wrongValues) {
      expect(await refusal({ updateId, transfer: { ...transfer, [name]: value } })).toEqual(named);
    }
  });

  test("an amount that is a number is no invalid one", async () => {
    const id = place.transact(transferring("factory"));
    expect((await proofAt(place.url, { updateId: id, transfer: { ...transfer, amount: 12.5 } })).text).toBe(success);
  });

  test("unknown fields is answered", async () => {
    const id = place.transact(transferring("factory"));
    const asked = { updateId: id, transfer: { ...transfer, other: 5 }, more: {} };
    expect((await proofAt(place.url, asked)).text).toBe(success);
  });
});
