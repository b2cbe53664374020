/**
 * The token-standard client that wallets use, in the order in which a wallet
 * calls it. Expected values are written by hand, from the demo registry and the
 * page "How a choice context is built".
 */
import { TokenStandardClient } from "@canton-network/core-token-standard";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractId } from "../../demo/element.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { acme } from "../fixtures/calls/build.js";
import * as context from "../fixtures/context.js";
import { type Running, serveFile } from "../fixtures/run-service.js";

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined);
});
afterAll(() => running.close());

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** A client of one registrar. A public registry needs no token, but some wallets send one. */
function clientOf(registrar: string, { token = "", end = "" } = {}): TokenStandardClient {
  const tokens = {
    getAccessToken: () => Promise.resolve(token),
    getAuthContext: () => Promise.resolve({ userId: "wallet", accessToken: token }),
  };
  return new TokenStandardClient(`${running.url}/api/token-standard/v0/registrars/${registrar}${end}`, quiet, tokens);
}

type PostPath = Parameters<TokenStandardClient["post"]>[0];

async function choice(path: PostPath, ids: Record<string, string>, client = clientOf(acme)): Promise<JsonObject> {
  return { ...(await client.post(path, { meta: {}, excludeDebugFields: false }, { path: ids })) };
}

const listInstruments = (query: Record<string, string | number>) =>
  clientOf(acme).get("/registry/metadata/v1/instruments", { query });
const getInstrument = (instrumentId: string) =>
  clientOf(acme).get("/registry/metadata/v1/instruments/{instrumentId}", { path: { instrumentId } });

/** Shortens a response: ids in place of disclosed contracts. */
const short = (body: JsonValue): JsonObject => context.short({ status: 200, headers: new Headers(), body });

const ids = (...labels: readonly string[]): string[] => labels.map(contractId).toSorted((a, b) => (a < b ? -1 : 1));

const transferInstructionId = contractId("offer bond to bob");
const held = "holding bond to bob";

const onTransfer = (name: "accept" | "reject" | "withdraw") =>
  `/registry/transfer-instruction/v1/{transferInstructionId}/choice-contexts/${name}` as const;

/** No table has the packages of the demo: version 1 alone. */
const supportedApis = Object.fromEntries(
  ["metadata", "holding", "transfer-instruction", "allocation", "allocation-instruction", "allocation-request"].map(
    (api) => [`splice-api-token-${api}-v1`, api === "metadata" ? 2 : 1],
  ),
);
const instrument = (id: string) => ({ id, name: id, symbol: id, decimals: 10, supportedApis });

describe("a wallet", () => {
  test("lists the instruments page by page, and reads one by another identifier", async () => {
    expect(await listInstruments({})).toEqual({ instruments: [instrument("ACME-BOND"), instrument("ACME-EUR")] });
    const { nextPageToken = "", ...first } = await listInstruments({ pageSize: 1 });
    expect(first).toEqual({ instruments: [instrument("ACME-BOND")] });
    expect(await listInstruments({ pageSize: 1, pageToken: nextPageToken })).toEqual({
      instruments: [instrument("ACME-EUR")],
    });
    expect(await getInstrument("EU000A1ACME7")).toEqual(instrument("ACME-EUR"));
  });

  test.each<[string, () => TokenStandardClient]>([
    ["without a token", () => clientOf(acme)],
    ["with a slash at the end of the base URL", () => clientOf(acme, { end: "/" })],
    ["with the colons of the party escaped", () => clientOf(encodeURIComponent(acme))],
    ["with an unneeded token", () => clientOf(acme, { token: "eyJhbGciOiJub25lIn0.e30." })],
  ])("reads the registry info and ends a transfer %s", async (_how, client) => {
    expect(await client().get("/registry/metadata/v1/info")).toEqual({ adminId: acme, supportedApis });
    expect(short(await choice(onTransfer("reject"), { transferInstructionId }, client()))).toEqual({
      values: context.resultContracts(true),
      disclosed: ids(held),
    });
  });
});

test("a wallet gets the error of the service, which names the unknown contract", async () => {
  const id = contractId("nothing");
  const reason: unknown = await choice(onTransfer("accept"), { transferInstructionId: id }).catch(
    (one: unknown) => one,
  );
  const { status: _, ...body } = context.failure(0, id);
  expect(reason).toEqual(body);
});
