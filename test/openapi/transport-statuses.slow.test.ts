/** Statuses of the transport, which no operation decides: each is listed for every operation, with its body. */
import type { JsonValue } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OpenApi } from "../fixtures/openapi.js";
import { type ExampleRequest, exampleRequests, fetchDocument, sendExample } from "../fixtures/openapi-examples.js";
import { Connection } from "../fixtures/raw-connection.js";
import { type Running, serveFile } from "../fixtures/run-service.js";

let running: Running;
let impatient: Running;
let limited: Running;
let served: OpenApi;
let requests: readonly ExampleRequest[];
beforeAll(async () => {
  running = await serveFile(undefined);
  impatient = await serveFile(undefined, { config: { requestSeconds: 1 } });
  limited = await serveFile(undefined, { config: { ratePerClient: 1 } });
  served = new OpenApi(await fetchDocument(running.url));
  requests = exampleRequests(served);
});
afterAll(() => Promise.all([running, impatient, limited].map((one) => one.close())));

/** Lists the violations of a response, and the headers that it lacks. */
function check({ route }: ExampleRequest, status: number, headers: Headers, body: string): string[] {
  const listed = Object.keys(served.response(route, status)?.headers ?? {});
  const missing = listed.filter((name) => !headers.has(name)).map((name) => `the header ${name} is missing`);
  return [...served.validate(route, status, JSON.parse(body) as JsonValue), ...missing].map(
    (what) => `${route}: ${status}: ${what}`,
  );
}

async function checkFetched(request: ExampleRequest, status: number, sending: Promise<Response>): Promise<string[]> {
  const response = await sending;
  const body = await response.text();
  const other = response.status === status ? [] : [`${request.route}: ${response.status} is not ${status}`];
  return [...other, ...check(request, response.status, response.headers, body)];
}

/** Sends the beginning of a request, and reads the response. */
async function checkRaw(url: string, request: ExampleRequest, status: number, head: string): Promise<string[]> {
  const connection = await Connection.to(url);
  try {
    await connection.send(`${request.verb} ${request.path} HTTP/1.1\r\nhost: localhost\r\n${head}`);
    const [response] = await connection.respond(1);
    expect({ route: request.route, status: response?.status }).toEqual({ route: request.route, status });
    return check(request, response?.status ?? 0, fieldsOf(response?.headers ?? ""), response?.body ?? "");
  } finally {
    connection.end();
  }
}

/** The header fields below a status line. */
const fieldsOf = (head: string): Headers =>
  new Headers(
    head
      .split("\r\n")
      .slice(1)
      .map((line) => line.split(/: (.*)/s, 2) as [name: string, value: string]),
  );

/** The violations of all operations. */
const all = async (checkOne: (request: ExampleRequest) => Promise<string[]>): Promise<string[]> =>
  (await Promise.all(requests.map(checkOne))).flat();

describe("for every operation", () => {
  test("405 is listed: its path by another method", async () => {
    const wrong = await all((request) =>
      checkFetched(request, 405, fetch(running.url + request.path, { method: "DELETE" })),
    );
    expect(wrong).toEqual([]);
  });

  test("408 is listed: a request that never ends", async () => {
    expect(await all((request) => checkRaw(impatient.url, request, 408, "x: "))).toEqual([]);
  });

  test("414 is listed: a query that is too long", async () => {
    const query = `query=${"a".repeat(12_288)}`;
    const wrong = await all((request) => {
      const path = `${request.path}${request.path.includes("?") ? "&" : "?"}${query}`;
      return checkFetched(request, 414, sendExample(running.url, { ...request, path }));
    });
    expect(wrong).toEqual([]);
  });

  test("431 is listed: headers that are too large", async () => {
    const head = `x: ${"a".repeat(20_000)}\r\n\r\n`;
    expect(await all((request) => checkRaw(running.url, request, 431, head))).toEqual([]);
  });

  test("429 is listed: more requests than the rate limit allows, but health is exempt", async () => {
    const wrong: string[] = [];
    for (const request of requests) {
      const response = await exceedRate(request);
      const isListed = "429" in served.operation(request.route).responses;
      if ((response !== undefined) !== isListed || isListed === isHealth(request)) wrong.push(request.route);
      if (response !== undefined) wrong.push(...(await checkFetched(request, 429, Promise.resolve(response))));
    }
    expect(wrong).toEqual([]);
  });
});

const isHealth = ({ path }: ExampleRequest): boolean => !path.startsWith("/api/");

/** Sends requests at once until one is rejected: a slow machine may need more than one attempt. */
async function exceedRate(request: ExampleRequest): Promise<Response | undefined> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const responses = await Promise.all([1, 2, 3].map(() => sendExample(limited.url, request)));
    const rejected = responses.find(({ status }) => status === 429);
    await Promise.all(responses.filter((one) => one !== rejected).map((one) => one.arrayBuffer()));
    if (rejected !== undefined) return rejected;
  }
  return undefined;
}
