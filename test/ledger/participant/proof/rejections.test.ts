/** Requests that fail: the ledger is unavailable, there is none, or the request is invalid. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../../src/domain/json.js";
import { serving } from "../../../fixtures/registries.js";
import type { ErrorCode } from "../../../scripted-participant/errors.js";
import { proofAt, Proving, proving, success, unknownId } from "./proof-service.js";
import { transfer, transferring } from "./transfer-steps.js";

const place = proving();
const message = expect.stringMatching(/./) as string;

/** The whole response of a request. */
async function refusal(body: JsonValue | string, url = place.url): Promise<readonly [number, JsonObject]> {
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

  test.each<[string, () => void]>([
    ["shuts down", () => place.participant.faults.refuse(503, { path: "/v2/updates/update-by-id" })],
    ["has too much to do", () => place.participant.faults.refuse(429, { path: "/v2/updates/update-by-id" })],
    ["hangs up", () => place.participant.faults.hangUp({ path: "/v2/updates/update-by-id" })],
    ["is behind a proxy alone", () => place.participant.faults.proxyError({ path: "/v2/updates/update-by-id" })],
    [
      "is behind a proxy that knows no path",
      () => place.participant.faults.proxyError({ status: 404, path: "/v2/updates/update-by-id" }),
    ],
  ])("also if it %s", async (_, fails) => {
    const id = place.transact(transferring("factory"));
    fails();
    expect((await place.ask(id)).headers["retry-after"]).toBe("1");
    expect(await place.status(id)).toBe(success);
  });

  test.each<ErrorCode>([
    "LEDGER_API_INTERNAL_ERROR",
    "UNAUTHENTICATED",
    "PERMISSION_DENIED",
    "PACKAGE_NAMES_NOT_FOUND",
  ])("also if it answers %s, without the details", async (code) => {
    const id = place.transact(transferring("factory"));
    const { faults } = place.participant;
    faults.refuse(code, { path: "/v2/updates/update-by-id", times: 10 });
    onTestFinished(() => faults.clear());
    expect(await refusal({ updateId: id, transfer })).toEqual([503, away]);
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
const wrong: [string, JsonValue | string][] = [
  ["no JSON", "{"],
  ["no object", []],
  ["nothing", ""],
  ["an empty object", {}],
  ["no transfer", { updateId }],
  ["a transfer that is null", { updateId, transfer: null }],
  ["a transfer that is text", { updateId, transfer: "transfer" }],
  ["no update id", { transfer }],
  ["an empty update id", { updateId: "", transfer }],
  ["an update id that is a number", { updateId: 5, transfer }],
  // Protobuf does not distinguish a missing list from an empty one.
  ...Object.keys(transfer)
    .filter((name) => name !== "inputHoldingCids")
    .map((name): [string, JsonValue] => [`no ${name}`, { updateId, transfer: without(name) }]),
];
const values: readonly (readonly [string, JsonValue])[] = [
  ["sender", ""],
  ["sender", 5],
  ["receiver", ""],
  ["amount", ""],
  ["amount", "many"],
  ["amount", "1."],
  ["amount", ".5"],
  ["amount", "1e3"],
  ["amount", "1,0"],
  ["amount", "0x10"],
  ["amount", " 1.0"],
  ["amount", "1.00000000000"],
  ["amount", "1".repeat(29)],
  ["amount", true],
  ["instrumentId", {}],
  ["instrumentId", { admin: "registrar::1220" }],
  ["instrumentId", { id: "USD" }],
  ["instrumentId", "USD"],
  ...["requestedAt", "executeBefore"].flatMap((name) =>
    ["", "soon", "2026-01-05", "2026-01-05T09:00:00", "2026-13-05T09:00:00Z", "1767603600"].map(
      (time) => [name, time] as const,
    ),
  ),
  ["requestedAt", "2026-02-30T09:00:00Z"],
  ["requestedAt", 1_767_603_600],
  ["inputHoldingCids", "input-1"],
  ["inputHoldingCids", [5]],
  ["meta", "meta"],
  ["meta", { values: { a: 1 } }],
  ["meta", { values: [] }],
];

describe("an invalid request with", () => {
  test.each(wrong)("%s", async (_, body) => {
    expect(await refusal(body)).toEqual([400, { error: "invalid_argument", error_description: message }]);
  });

  test.each(values)("%s %j, names it", async (name, value) => {
    const body = { updateId, transfer: { ...transfer, [name]: value } };
    // Its name, as JSON or as the definition of the message spells it.
    const spelled = new RegExp(name.replaceAll(/(?=[A-Z])/g, "_?"), "i");
    const named = expect.stringMatching(spelled) as string;
    expect(await refusal(body)).toEqual([400, { error: "invalid_argument", error_description: named }]);
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
