/** Every response conforms to the OpenAPI document of the service. documents.test.ts compares that with the published ones. */
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { calls } from "../fixtures/calls/index.js";
import { routeOf } from "../fixtures/openapi.js";
import type { Call } from "../fixtures/protocols.js";
import { callDuringShutdown, type ScenarioResponse, Scenarios } from "../fixtures/scenarios.js";
import { operations, own } from "./published.js";

let scenarios: Scenarios;
const received = new Map<Call, readonly ScenarioResponse[]>();
beforeAll(async () => {
  scenarios = await Scenarios.start();
  const all = Object.values(calls);
  const duringShutdown = await callDuringShutdown(all);
  for (const [index, call] of all.entries()) {
    received.set(call, [...(await scenarios.run(call)), ...duringShutdown.slice(index, index + 1)]);
  }
});
afterAll(() => scenarios.close());

const responsesTo = (call: Call | undefined): readonly ScenarioResponse[] => (call && received.get(call)) ?? [];
const findResponses = (route: string) =>
  Object.values(calls)
    .filter(({ method }) => routeOf(method) === route)
    .flatMap(responsesTo);

/** The response to one call in one scenario. */
function getBody(name: string, scenario = "on the demo registry"): JsonValue {
  const found = responsesTo(calls[name]).find((one) => one.scenario === scenario);
  if (found === undefined) throw new Error(`there is no response to ${name} ${scenario}`);
  return found.body;
}

/** Whether an operation without a body rejected a body. A test of its own covers these. */
const isBodyRejection = (route: string, { status }: ScenarioResponse): boolean =>
  own.operation(route).requestBody === undefined && (status === 413 || status === 415);

/** Statuses that test/transport produces: early-answers.test.ts, and validators.test.ts for 304. */
const ofTransport: ReadonlySet<string> = new Set(["304", "405", "408", "414", "429", "431"]);

/** Health operations cannot fail unexpectedly. */
const isHealth = (route: string): boolean => !route.includes(" /api/");

describe("responses", () => {
  test.each(Object.entries(calls))("%s: every one conforms to the document, with its headers", (_name, call) => {
    const route = routeOf(call.method);
    const all = responsesTo(call).filter((one) => !isBodyRejection(route, one));
    expect(all.length).toBeGreaterThan(2);
    for (const { scenario, status, headers, body } of all) {
      if (isHealth(route) && status >= 500) continue;
      const wrong = [...own.validate(route, status, body), ...own.findExtra(route, status, body)];
      const { headers: listed } = own.response(route, status) ?? {};
      const isListed = status === 503 || (listed !== undefined && "Retry-After" in listed);
      const found = { scenario, status, wrong, retry: headers.has("retry-after") };
      expect(found).toEqual({ scenario, status, wrong: [], retry: isListed });
      expect(headers.get("content-type")).toMatch(/^application\/json(; charset=utf-8)?$/);
      expect(JSON.stringify(body)).not.toContain("nothing is served at");
    }
  });

  test("to a body that is too large or not JSON are listed for operations without a body, too", () => {
    const unlisted = operations.flatMap(([route, { responses }]) =>
      findResponses(route)
        .filter((one) => isBodyRejection(route, one) && !(one.status in responses))
        .map(({ status }) => `${route}: ${status}`),
    );
    expect([...new Set(unlisted)]).toEqual([]);
  });

  test("of readiness and liveness are listed in every scenario", () => {
    const unlisted = operations
      .filter(([route]) => isHealth(route))
      .flatMap(([route, { responses }]) =>
        findResponses(route)
          .filter(({ status }) => status !== 500 && !(status in responses))
          .map(({ scenario, status }) => `${route} ${scenario}: ${status}`),
      );
    expect(unlisted).toEqual([]);
  });

  test.each(operations)("%s produces every documented status", (route, { responses }) => {
    const found = new Set(findResponses(route).map(({ status }) => String(status)));
    const missed = Object.keys(responses).filter((status) => !found.has(status) && !ofTransport.has(status));
    // This registry has no pending allocation instructions: these operations never succeed.
    const neverSucceeds = route.includes("{allocationInstructionId}") ? ["200"] : [];
    // These need no contracts: only an overload makes them unavailable.
    const isServed = ["GET /livez", "GET /api/utilities/v0/openapi"].includes(route);
    expect(missed).toEqual(isServed ? ["503"] : neverSucceeds);
  });

  test("have every optional property of an instrument on a participant", () => {
    const body = getBody("v1 instrument", "on a participant") as JsonObject;
    const named = Object.keys(own.resolve({ $ref: "#/components/schemas/Instrument/properties" }) ?? {});
    expect(Object.keys(body).toSorted()).toEqual(named.toSorted());
  });
});

test("the statuses of the transport are listed for every operation", () => {
  const unlisted = operations.flatMap(([route, { responses }]) =>
    ["405", "408", "414", "431"].filter((status) => !(status in responses)).map((status) => `${route}: ${status}`),
  );
  expect(unlisted).toEqual([]);
});
