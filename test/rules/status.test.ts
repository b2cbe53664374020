/** Which requests are rejected, with which status and form of error. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { sampleRequests, type Endpoint, transferFactory, transferV1 } from "../fixtures/requests.js";
import { failure, short, utilityFailure } from "../fixtures/context.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { instructions, registryOf, serving } from "../fixtures/registries.js";
import { type Answer, type Running, serve } from "../fixtures/run-service.js";

const all: Endpoint[] = [1, 2, 3, 4, 5, 6, 7, 8];
const withBody: Endpoint[] = [1, 2, 3, 4, 5, 8];
const json = { "content-type": "application/json" };

let running: Running;
beforeAll(async () => {
  running = await serve(registryOf({}, ...instructions()));
});
afterAll(() => running.close());

/** The status and the exact fields of the endpoint's errors. */
const refusal = (endpoint: Endpoint, status: number, ...named: string[]): JsonObject =>
  endpoint >= 6 ? utilityFailure(status, ...named) : failure(status, ...named);

async function send(endpoint: Endpoint, body: string, headers: Record<string, string>): Promise<Answer> {
  const response = await fetch(running.url + sampleRequests[endpoint].path, { method: "POST", body, headers });
  return { status: response.status, headers: response.headers, body: (await response.json()) as JsonValue };
}

/** An endpoint's answer to another body. */
const answerTo = async (endpoint: Endpoint, body: JsonObject) =>
  short(await running.post(sampleRequests[endpoint].path, body));

test.each(all)("endpoint %i answers 200 to the unchanged request", async (endpoint) => {
  const { path, body } = sampleRequests[endpoint];
  expect(await running.post(path, body)).toMatchObject({ status: 200 });
});

describe("400", () => {
  test.each(withBody)("for malformed JSON, on endpoint %i", async (endpoint) => {
    for (const body of ["{", "meta", "{}{}", '{"meta":{},}']) {
      expect(short(await send(endpoint, body, json))).toEqual(refusal(endpoint, 400));
    }
  });

  test.each(withBody)("for JSON that is not an object, on endpoint %i", async (endpoint) => {
    for (const body of ["[]", '"text"', "5", "true"]) {
      expect(short(await send(endpoint, body, json))).toEqual(refusal(endpoint, 400));
    }
  });

  test.each([1, 2] as const)("for choiceArguments missing or not an object, on endpoint %i", async (endpoint) => {
    for (const body of [{}, { choiceArguments: null }, { choiceArguments: [] }, { choiceArguments: "text" }]) {
      expect(await answerTo(endpoint, body)).toEqual(refusal(endpoint, 400, "choiceArguments"));
    }
  });

  test.each([1, 2, 3, 4, 5] as const)(
    "for excludeDebugFields that is not a boolean, on endpoint %i",
    async (endpoint) => {
      for (const excludeDebugFields of ["yes", "true", 1, {}]) {
        const body = { ...sampleRequests[endpoint].body, excludeDebugFields };
        expect(await answerTo(endpoint, body)).toEqual(refusal(endpoint, 400, "excludeDebugFields"));
      }
    },
  );

  test.each([3, 4, 5] as const)("for meta that is not an object, on endpoint %i", async (endpoint) => {
    for (const meta of ["text", 5, []]) {
      expect(await answerTo(endpoint, { meta })).toEqual(refusal(endpoint, 400, "meta"));
    }
  });
});

describe("404", () => {
  const nothing = [element("AllocationFactory", "factory-2", payload.service({ registrar: "registrar-2::1220" }))];

  test.each(all)("without any contracts, on endpoint %i", async (endpoint) => {
    const empty = await serving(nothing);
    const { path, body } = sampleRequests[endpoint];
    expect(short(await empty.post(path, body))).toEqual(refusal(endpoint, 404));
  });

  test.each([1, 2, 3, 4, 5] as const)("for a registrar that is not served, on endpoint %i", async (endpoint) => {
    const { path, body } = sampleRequests[endpoint];
    const elsewhere = path.replace(encodeURIComponent(parties.registrar), "nobody%3A%3A1220");
    const theirs = JSON.parse(JSON.stringify(body).replaceAll(parties.registrar, "nobody::1220")) as JsonObject;
    expect(short(await running.post(elsewhere, theirs))).toEqual(refusal(endpoint, 404, "nobody::1220"));
  });

  test("for an instrument without a configuration, which the message names", async () => {
    const body = transferV1("alice", "bob", { instrumentId: { admin: parties.registrar, id: "GBP" } });
    expect(short(await running.post(transferFactory(), body))).toEqual(failure(404, "GBP"));
  });

  test.each([3, 4, 5, 6, 7] as const)(
    "for an unknown contract, which the message names, on endpoint %i",
    async (endpoint) => {
      const path = sampleRequests[endpoint].path.replace(/[\w-]+(?=\/choice-contexts)/, "00ff");
      expect(short(await running.post(path))).toEqual(refusal(endpoint, 404, "00ff"));
    },
  );
});

describe.each(["unassigned", "arriving"] as const)("409 if every contract is %s", (moving) => {
  test.each(all)("on endpoint %i", async (endpoint) => {
    const configuration = element("InstrumentConfiguration", "usd", payload.configuration("USD"), { moving });
    const factory = element("AllocationFactory", "factory", payload.service(), { moving });
    const between = await serving(registryOf({ configuration, factory }, ...instructions({ moving })));
    const { path, body } = sampleRequests[endpoint];
    expect(short(await between.post(path, body))).toEqual(refusal(endpoint, 409));
  });
});

const MiB = 1024 * 1024;

/** A body of `size` bytes. */
function padded(body: JsonObject | undefined, bytes: number): string {
  const bare = JSON.stringify({ ...body, padding: "" }).length;
  return JSON.stringify({ ...body, padding: "x".repeat(bytes - bare) });
}

describe("413 and 415", () => {
  test.each(withBody)("a body of 1 MiB is accepted, one more byte is not, on endpoint %i", async (endpoint) => {
    const { body } = sampleRequests[endpoint];
    expect(await send(endpoint, padded(body, MiB), json)).toMatchObject({ status: 200 });
    expect(short(await send(endpoint, padded(body, MiB + 1), json))).toEqual(refusal(endpoint, 413));
  });

  test.each(withBody)("another content type is rejected, on endpoint %i", async (endpoint) => {
    const text = JSON.stringify(sampleRequests[endpoint].body);
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/xml"]) {
      expect(short(await send(endpoint, text, { "content-type": type }))).toEqual(refusal(endpoint, 415));
    }
  });

  test.each(withBody)("a charset must be UTF-8, on endpoint %i", async (endpoint) => {
    const text = JSON.stringify(sampleRequests[endpoint].body);
    const answers = (charset: string) => send(endpoint, text, { "content-type": `application/json${charset}` });
    for (const charset of ["; charset=utf-8", ";charset=UTF-8", '; charset="utf-8"', "; charset=utf8", "; x=latin1"]) {
      expect({ charset, ...(await answers(charset)) }).toMatchObject({ charset, status: 200 });
    }
    for (const charset of ["utf-16", "iso-8859-1", "utf-8859", "UTF-32"]) {
      expect(short(await answers(`; charset=${charset}`))).toEqual(refusal(endpoint, 415, "utf-8", charset));
    }
  });
});
