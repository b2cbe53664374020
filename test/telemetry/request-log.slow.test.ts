/** The request log: what a line contains, and what no line may contain. */
import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { callNamed, failingCalls, successfulCalls } from "../fixtures/calls/index.js";
import { main, Program } from "../fixtures/program.js";
import type { Call } from "../fixtures/protocols.js";
import { until } from "../fixtures/wait.js";
import { nameOf, protocolClients } from "./protocol-clients.js";

const valid = callNamed("v1 instruments");
const missing = callNamed("an instrument that does not exist");
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

type Line = Readonly<Record<string, unknown>>;

interface Logging {
  readonly program: Program;
  readonly url: string;
  /** Waits for `count` request lines and returns all. */
  readonly lines: (count: number) => Promise<Line[]>;
}

async function start(logged: string, more: Readonly<Record<string, string>> = {}): Promise<Logging> {
  const env = {
    OFFLEDGER_PORT: "0",
    OFFLEDGER_LOG_LEVEL: "trace",
    OFFLEDGER_LOG_REQUESTS: logged,
    OFFLEDGER_MAX_DELAY_MS: "0",
    ...more,
  };
  const program = new Program(process.execPath, [main, "serve"], { cwd: tmpdir(), env });
  const [, url = ""] = await program.printed(/at (http:\S+)/);
  const requests = () => linesOf(program).filter(({ msg }) => msg === "request");
  return {
    program,
    url,
    async lines(count) {
      await until(`${count} requests are logged`, () => requests().length >= count);
      return requests();
    },
  };
}

/** Throws if a line is not JSON. */
const linesOf = ({ err }: Program): Line[] =>
  err
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

describe("a request line", () => {
  test("has exactly these fields, on every protocol", async () => {
    const { url, lines } = await start("all");
    let count = 0;
    for (const { protocol, send } of Object.values(protocolClients)) {
      await send(url, valid, { "x-request-id": `id-${++count}`, traceparent });
      const line = (await lines(count)).at(-1) ?? {};
      expect(Object.keys(line).toSorted((a, b) => a.localeCompare(b))).toEqual([
        "client",
        "hostname",
        "level",
        "milliseconds",
        "msg",
        "operation",
        "pid",
        "protocol",
        "requestId",
        "status",
        "time",
        "traceId",
      ]);
      expect(line).toMatchObject({
        level: 30,
        requestId: `id-${count}`,
        operation: nameOf(valid),
        protocol,
        status: "ok",
        traceId: "0af7651916cd43dd8448eb211c80319c",
        client: "127.0.0.1",
      });
      expect(line.milliseconds).toBeGreaterThan(0);
      expect(String(line.milliseconds)).toMatch(/^\d+(\.\d{1,3})?$/);
    }
  });

  test("has an id made by the service if the caller's is missing or malformed", async () => {
    const { url, lines } = await start("all");
    const ids = ["with space", "", "x".repeat(129), 'quote"', undefined];
    for (const id of ids) await protocolClients.REST?.send(url, valid, id === undefined ? {} : { "x-request-id": id });
    const loggedIds = (await lines(ids.length)).map(({ requestId }) => String(requestId));
    for (const id of loggedIds) expect(id).toMatch(/^[0-9a-f]{16}-\d+$/);
    expect(new Set(loggedIds).size).toBe(ids.length);
    await protocolClients.REST?.send(url, valid, { "x-request-id": "x".repeat(128) });
    expect((await lines(ids.length + 1)).at(-1)?.requestId).toBe("x".repeat(128));
  });

  test("of a failed request has its status, and no path", async () => {
    const { url, lines } = await start("failed");
    await protocolClients.gRPC?.send(url, valid);
    await protocolClients.gRPC?.send(url, missing);
    await fetch(`${url}/no/such/path`);
    const [first, second, ...more] = await lines(2);
    expect(first).toMatchObject({ level: 30, operation: nameOf(missing), protocol: "grpc", status: "not_found" });
    expect(first).not.toHaveProperty("traceId");
    expect(second).toMatchObject({ level: 30, operation: "none", protocol: "rest", status: "not_found" });
    expect(JSON.stringify(second)).not.toContain("such");
    expect(more).toEqual([]);
  });

  test("is a warning if the service failed", async () => {
    // Nothing listens there.
    const ledger = { OFFLEDGER_LEDGER_URL: "http://127.0.0.1:9", OFFLEDGER_LEDGER_PARTIES: "p::1220" };
    const { url, lines } = await start("failed", ledger);
    await protocolClients.REST?.send(url, valid);
    expect((await lines(1))[0]).toMatchObject({ level: 40, operation: nameOf(valid), status: "unavailable" });
  });

  test("is not written with OFFLEDGER_LOG_REQUESTS=none", async () => {
    const { url, program } = await start("none");
    await protocolClients.REST?.send(url, missing);
    program.stop();
    await program.ended();
    expect(linesOf(program).filter(({ operation }) => operation !== undefined)).toEqual([]);
  });
});

/** What a refusal is about, which may be a value of the request. */
const ABOUT = new Set([
  "registrar",
  "instrument",
  "party",
  "issuer",
  "claims",
  "contractId",
  "template",
  "synchronizers",
]);
const withoutSubject = (line: Line): Line => Object.fromEntries(Object.entries(line).filter(([k]) => !ABOUT.has(k)));

test("no token, payload or header is logged, whatever fails, but what a refusal is about", async () => {
  const { url, program, lines } = await start("all");
  const headers = {
    authorization: "Bearer MARK-token",
    cookie: "MARK-cookie",
    "x-api-key": "MARK-key",
    "x-request-id": "MARK id of no form",
    traceparent: "MARK-trace",
    "user-agent": "MARK-agent",
  };
  // Valid payloads, invalid ones, and ones that name unknown contracts.
  const marked: Call[] = Object.values({
    ...successfulCalls,
    ...Object.fromEntries(Object.entries(failingCalls).map(([k, v]) => [k, v.call])),
  })
    .filter(({ body }) => body !== undefined)
    .map(({ method, path, body, request }) => ({ method, path, body: withMark(body), request: withMark(request, 1) }));
  expect(marked.length).toBeGreaterThan(30);
  const linesUntil = async (id: string): Promise<Line[]> => {
    await protocolClients.REST?.send(url, valid, { "x-request-id": id });
    let found: Line[] = [];
    await until(`${id} is logged`, async () => {
      found = await lines(0);
      return found.some(({ requestId }) => requestId === id);
    });
    return found;
  };
  let turn = 0;
  for (const { send } of Object.values(protocolClients)) {
    for (const call of marked.filter((_, at) => at % 3 === turn % 3)) {
      await send(url, call, headers);
    }
    turn++;
  }
  const before = await linesUntil("before");
  // The clients do not send some of the payloads.
  expect(before.length).toBeGreaterThan(60);
  const raw = [
    ["/api/utilities/v0/operator?MARK-query=MARK", "GET", undefined, "application/json"],
    ["/MARK-path", "GET", undefined, "application/json"],
    ["/api/utilities/v0/registry/mint/v0/offer", "POST", '{"MARK-json', "application/json"],
    ["/api/utilities/v0/registry/mint/v0/offer", "POST", "MARK-text", "text/MARK"],
    ["/offledger.mint.v0.MintService/MARK-method", "POST", "MARK", "application/proto"],
    [`/${nameOf(valid)}`, "POST", "MARK-not-json", "application/json"],
    [`/${nameOf(valid)}`, "POST", "MARK-not-protobuf", "application/proto"],
    [`/${nameOf(valid)}`, "POST", "\0\0\0\0\u0004MARK", "application/grpc"],
    [`/${nameOf(valid)}`, "POST", "MARK", "application/grpc-web+proto"],
    [`/${nameOf(valid)}?message=MARK&encoding=json`, "GET", undefined, ""],
    [`/${nameOf(valid)}`, "POST", `"MARK${"x".repeat(2_000_000)}"`, "application/json"],
  ] as const;
  for (const [path, method, body, type] of raw) {
    const response = await fetch(url + path, {
      method,
      headers: { ...headers, "content-type": type },
      ...(body !== undefined && { body }),
    });
    await response.text();
  }
  const after = (await linesUntil("after")).slice(before.length);
  // Each of them was logged.
  expect(after).toHaveLength(raw.length + 1);
  expect(new Set([...before, ...after].map(({ status }) => status)).size).toBeGreaterThan(2);
  program.stop();
  const { out } = await program.ended();
  const logged =
    out +
    linesOf(program)
      .map((line) => JSON.stringify(withoutSubject(line)))
      .join("\n");
  expect(logged).not.toContain("MARK");
  expect(logged).not.toContain(Buffer.from("MARK").toString("base64").slice(0, 5));
});

/** Marks every string below the first level, which leaves the request well-formed. */
function withMark(value: unknown, depth = 0): never {
  if (typeof value === "string" && depth > 1) return `${value}MARK` as never;
  if (Array.isArray(value)) return value.map((one) => withMark(one, depth + 1)) as never;
  if (typeof value !== "object" || value === null) return value as never;
  const marked = Object.entries(value).map(([name, one]) => [name, withMark(one, depth + 1)]);
  return Object.fromEntries(depth === 0 ? [...marked, ["MARK-field", "MARK"]] : marked) as never;
}
