/** Instrument configurations by numbered pages, over REST and gRPC. */
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { InstrumentConfigurationService } from "../../gen/offledger/instrument_configuration/v0/instrument_configuration_service_pb.js";
import { short, utilityFailure } from "../fixtures/context.js";
import { element, type Options, payload } from "../fixtures/elements.js";
import { protocols } from "../fixtures/protocols.js";
import { serving } from "../fixtures/registries.js";
import { allInstrumentConfigurations, configurationPages } from "../fixtures/requests.js";
import type { Answer, Running } from "../fixtures/run-service.js";

const configuration = (contractId: string, id: string, options?: Options) =>
  element("InstrumentConfiguration", contractId, payload.configuration(id), options);

const at = (second: number): Options => ({ createdAt: `2026-01-05T09:00:0${second}.000000Z` });

/** Created in the order c, a, b and d (at the same time), e. Their ids sort otherwise. */
const five = [
  configuration("a", "ZAR", at(2)),
  configuration("b", "YER", at(3)),
  configuration("c", "XAF", at(1)),
  configuration("d", "CHF", at(3)),
  configuration("e", "AUD", at(4)),
];

/** A page with contract ids instead of configurations. */
function shorten(body: JsonValue | undefined): JsonObject {
  const { instrumentConfigurations, ...numbers } = body as unknown as JsonObject & {
    readonly instrumentConfigurations: readonly { readonly contract: { readonly contractId: string } }[];
  };
  return { ids: instrumentConfigurations.map(({ contract }) => contract.contractId), ...numbers };
}

/** The configurations of a response by contract id. */
function byId({ body }: Answer): Map<string, JsonObject> {
  const { instrumentConfigurations } = body as unknown as {
    readonly instrumentConfigurations: readonly { readonly contract: { readonly contractId: string } }[];
  };
  return new Map(instrumentConfigurations.map((one) => [one.contract.contractId, one]));
}

async function overRest(running: Running, query: string): Promise<JsonObject> {
  const { status, body } = await running.get(`${configurationPages}${query}`);
  expect({ status, body }).toMatchObject({ status: 200 });
  return shorten(body);
}

const grpc = (running: Running, request: JsonObject) => {
  const method = InstrumentConfigurationService.method.listInstrumentConfigurations;
  return protocols["gRPC"]?.(running.url, { method, request, path: "", body: undefined });
};

describe("a page", () => {
  test.each<[query: string, request: JsonObject, expected: JsonObject]>([
    ["", {}, { ids: ["c", "a", "b", "d", "e"], currentPage: 0, totalPages: 1, pageSize: 25, totalElements: 5 }],
    [
      "?page=0&size=2",
      { page: 0, size: 2 },
      { ids: ["c", "a"], currentPage: 0, totalPages: 3, pageSize: 2, totalElements: 5 },
    ],
    ["?size=2", { size: 2 }, { ids: ["c", "a"], currentPage: 0, totalPages: 3, pageSize: 2, totalElements: 5 }],
    [
      "?page=1&size=2",
      { page: 1, size: 2 },
      { ids: ["b", "d"], currentPage: 1, totalPages: 3, pageSize: 2, totalElements: 5 },
    ],
    [
      "?page=2&size=2",
      { page: 2, size: 2 },
      { ids: ["e"], currentPage: 2, totalPages: 3, pageSize: 2, totalElements: 5 },
    ],
    ["?page=3&size=2", { page: 3, size: 2 }, { ids: [], currentPage: 3, totalPages: 3, pageSize: 2, totalElements: 5 }],
    [
      "?page=0&size=5",
      { page: 0, size: 5 },
      { ids: ["c", "a", "b", "d", "e"], currentPage: 0, totalPages: 1, pageSize: 5, totalElements: 5 },
    ],
    ["?page=1&size=5", { page: 1, size: 5 }, { ids: [], currentPage: 1, totalPages: 1, pageSize: 5, totalElements: 5 }],
    ["?page=1", { page: 1 }, { ids: [], currentPage: 1, totalPages: 1, pageSize: 25, totalElements: 5 }],
    [
      "?page=2147483647&size=2147483647",
      { page: 2_147_483_647, size: 2_147_483_647 },
      { ids: [], currentPage: 2_147_483_647, totalPages: 1, pageSize: 1_000, totalElements: 5 },
    ],
  ])("for %j", async (query, request, expected) => {
    const running = await serving(five);
    expect(await overRest(running, query)).toEqual(expected);
    const outcome = await grpc(running, request);
    expect(outcome).toMatchObject({ ok: true });
    expect(shorten(outcome?.ok === true ? outcome.answer : undefined)).toEqual(expected);
  });

  test("is empty, with no pages, where there is no configuration", async () => {
    const running = await serving([element("AllocationFactory", "factory", payload.service())]);
    expect(await overRest(running, "")).toEqual({
      ids: [],
      currentPage: 0,
      totalPages: 0,
      pageSize: 25,
      totalElements: 0,
    });
  });

  test("has whole configurations, and no others than the list of all", async () => {
    const superseded = configuration("old", "AUD", { createdAt: "2025-01-05T09:00:00.000000Z" });
    const moving = configuration("moving", "USD", { ...at(0), moving: "unassigned" });
    const running = await serving([...five, superseded, moving]);
    const all = byId(await running.get(allInstrumentConfigurations));
    expect([...all.keys()].toSorted()).toEqual(["a", "b", "c", "d", "e"]);
    expect(byId(await running.get(configurationPages))).toEqual(all);
    expect(await overRest(running, "?size=1000")).toMatchObject({ totalElements: 5 });
  });

  test("has 25 configurations by default and 1,000 at most", async () => {
    const many = Array.from({ length: 1_003 }, (_, index) => {
      const number = String(index).padStart(4, "0");
      return configuration(`c${number}`, `I${number}`);
    });
    const running = await serving(many);
    const first = await overRest(running, "");
    expect(first).toMatchObject({ currentPage: 0, totalPages: 41, pageSize: 25, totalElements: 1_003 });
    expect(first["ids"]).toHaveLength(25);
    const last = { currentPage: 1, totalPages: 2, pageSize: 1_000, totalElements: 1_003 };
    for (const size of [1_000, 1_001, 2_147_483_647]) {
      expect(await overRest(running, `?page=1&size=${size}`)).toEqual({ ids: ["c1000", "c1001", "c1002"], ...last });
    }
  });
});

describe("a request with", () => {
  test.each([
    ["page=-1", "page must be at least 0, but is -1"],
    ["page=x", "page must be an integer"],
    ["page=1.5", "page must be an integer"],
    ["page=", "page must be an integer"],
    ["page=2147483648", "page"],
    ["page=0&page=1", "page"],
    ["size=0", "size"],
    ["size=-1", "size"],
    ["size=x", "size must be an integer"],
    ["size=", "size must be an integer"],
    ["size=99999999999999999999", "size"],
  ])("%s is 400", async (query, named) => {
    const running = await serving(five);
    expect(short(await running.get(`${configurationPages}?${query}`))).toEqual(utilityFailure(400, named));
  });

  test("a negative page or a size of 0 is invalid over gRPC", async () => {
    const running = await serving(five);
    expect(await grpc(running, { page: -1 })).toEqual({
      ok: false,
      code: Code.InvalidArgument,
      message: "page must be at least 0, but is -1",
    });
    expect(await grpc(running, { size: 0 })).toEqual({
      ok: false,
      code: Code.InvalidArgument,
      message: "size: must be greater than or equal to 1",
    });
  });
});
