/** Access to the operator's port: without a token it serves this machine only, apart from metrics and warnings. */
import { rename, rm, writeFile } from "node:fs/promises";
import http2 from "node:http2";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { HealthService } from "../../../gen/offledger/health/v1/health_service_pb.js";
import { OperatorToken } from "../../../src/transport/operator/access.js";
import { requestHttp1, requestHttp2 } from "../../fixtures/http-requests.js";
import { until } from "../../fixtures/wait.js";
import { CLOSED_PAGE, fileOf, METRICS, OPEN_PAGE, serveOperator, TOKEN } from "./serve-operator.js";

/** What a client sees: a code of its protocol, and the challenge. */
export interface Seen {
  /** "ok", or the code by its number in Connect and gRPC. */
  readonly code: Code | "ok";
  readonly message: string;
  readonly challenge: string | null;
}

export type GuardedCall = (url: string, authorization?: string) => Promise<Seen>;

const OK: Seen = { code: "ok", message: "", challenge: null };

/** HTTP statuses of REST as codes. */
const restCodes: Readonly<Record<number, Code>> = {
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
};

export const guardedCalls: Readonly<Record<string, GuardedCall>> = {
  REST: async (url, authorization) => {
    const response = await fetch(`${url}/livez`, authorization === undefined ? {} : { headers: { authorization } });
    const body = (await response.json()) as { readonly status?: string; readonly error?: string };
    if (response.ok && body.status === "ok") return OK;
    const code = restCodes[response.status];
    if (code === undefined) throw new Error(`unexpected status ${response.status}`);
    return { code, message: body.error ?? "", challenge: response.headers.get("www-authenticate") };
  },
  "Connect over HTTP/1.1": overRpc((baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" })),
  "Connect GET": overRpc((baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useHttpGet: true })),
  gRPC: overRpc((baseUrl) => createGrpcTransport({ baseUrl })),
  "gRPC-Web": overRpc((baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })),
};

function overRpc(createTransport: (baseUrl: string) => Transport): GuardedCall {
  return async (url, authorization) => {
    const client = createClient(HealthService, createTransport(url));
    try {
      await client.getLiveness({}, authorization === undefined ? {} : { headers: { authorization } });
      return OK;
    } catch (error) {
      const { code, rawMessage, metadata } = ConnectError.from(error);
      return { code, message: rawMessage, challenge: metadata.get("www-authenticate") };
    }
  };
}

/** A GET with any Host header. */
const get = (url: string, path: string, host: string) =>
  requestHttp1(`http://127.0.0.1:${new URL(url).port}`, path, { host });

/** An empty message over gRPC, with any authority. */
function grpc(url: string, authority: string) {
  const session = http2.connect(url);
  onTestFinished(() => session.destroy());
  const headers = { ":authority": authority, "content-type": "application/grpc", te: "trailers" };
  return requestHttp2(session, "/offledger.health.v1.HealthService/GetLiveness", headers, Buffer.alloc(5));
}

describe("without a token", () => {
  const NOT_LOOPBACK =
    "this is served to operators only: set OFFLEDGER_OPERATOR_TOKEN_FILE, or bind the operator's port to a loopback address";

  describe.each(Object.entries(guardedCalls))("%s", (_protocol, call) => {
    test("is answered on a loopback address", async () => {
      const { url } = await serveOperator();
      expect(await call(url)).toMatchObject({ code: "ok" });
      expect(await call(url, "Bearer any")).toMatchObject({ code: "ok" });
    });

    test("is refused where the port is bound to all addresses", async () => {
      const { port } = new URL((await serveOperator({ host: "0.0.0.0" })).url);
      expect(await call(`http://127.0.0.1:${port}`)).toEqual({
        code: Code.PermissionDenied,
        message: NOT_LOOPBACK,
        challenge: null,
      });
    });
  });

  test("a port that is bound to all addresses serves only metrics and warnings, to any host", async () => {
    const { url } = await serveOperator({ host: "0.0.0.0" });
    for (const host of ["prometheus.example:9464", "127.0.0.1"]) {
      for (const path of ["/metrics", "/warnings"]) expect((await get(url, path, host)).status).toBe(200);
      for (const path of [OPEN_PAGE, CLOSED_PAGE, "/livez", "/", "/nothing"]) {
        const { status, body } = await get(url, path, host);
        expect({ path, status, body: JSON.parse(body) as unknown }).toEqual({
          path,
          status: 403,
          body: { error: NOT_LOOPBACK },
        });
      }
    }
  });

  test("a loopback address is served under its own names", async () => {
    const { url } = await serveOperator();
    for (const host of ["LocalHost:9464", "127.0.0.1:80", "127.8.9.10", "[::1]:9464"]) {
      for (const path of ["/livez", OPEN_PAGE, CLOSED_PAGE, "/metrics"])
        expect([host, path, (await get(url, path, host)).status]).toEqual([host, path, 200]);
      expect((await grpc(url, host)).headers["grpc-status"]).toBe("0");
    }
    const { url: byName } = await serveOperator({ host: "localhost" });
    expect((await get(byName, "/livez", "localhost")).status).toBe(200);
  });

  const foreign =
    "evil.example localhost.evil.example 127.0.0.1.evil.example 127.0.0.1@evil.example evil.example:9464 0.0.0.0 " +
    "10.0.0.1 127.0.0.256 [::2] [::1]x localhost:x localhost. 2130706433";
  test("a loopback address is refused under other names, but for metrics and warnings", async () => {
    const { url } = await serveOperator();
    for (const host of foreign.split(" ")) {
      const error =
        "the host of the request must be localhost, an address in 127.0.0.0/8, or [::1], " +
        `but is "${host}"; set OFFLEDGER_OPERATOR_TOKEN_FILE for other names`;
      for (const path of ["/livez", CLOSED_PAGE, "/nothing"]) {
        const { status, body } = await get(url, path, host);
        expect([host, status, JSON.parse(body)]).toEqual([host, 403, { error }]);
      }
    }
    const { status, headers } = await grpc(url, "evil.example");
    expect([status, headers["grpc-status"]]).toEqual([200, "7"]);
    expect(decodeURIComponent(String(headers["grpc-message"]))).toContain('but is "evil.example"');
    for (const path of ["/metrics", "/warnings"]) expect((await get(url, path, "evil.example")).status).toBe(200);
  });

  test("no response has headers of CORS", async () => {
    const { url } = await serveOperator();
    const origin = { origin: "https://evil.example" };
    const preflight = { ...origin, "access-control-request-method": "GET" };
    for (const path of ["/metrics", "/warnings", "/livez", OPEN_PAGE, "/nothing"]) {
      for (const init of [{ headers: origin }, { method: "OPTIONS", headers: preflight }]) {
        const { headers } = await fetch(url + path, init);
        expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
      }
    }
  });
});

const statusOf = async (url: string, authorization?: string, method = "GET"): Promise<number> =>
  (await fetch(url, { method, ...(authorization !== undefined && { headers: { authorization } }) })).status;

describe("with a token", () => {
  describe.each(Object.entries(guardedCalls))("%s", (_protocol, call) => {
    test("needs the token", async () => {
      const { url } = await serveOperator({ tokenFile: await fileOf(`${TOKEN}\n`) });
      const missing = { code: Code.Unauthenticated, message: "bearer token required in the Authorization header" };
      expect(await call(url)).toEqual({ ...missing, challenge: 'Bearer realm="offledger"' });
      expect(await call(url, `Basic ${TOKEN}`)).toMatchObject(missing);
      for (const wrong of [`${TOKEN}0`, TOKEN.slice(1), TOKEN.toUpperCase(), "x".repeat(10_000)]) {
        const seen = await call(url, `Bearer ${wrong}`);
        expect(seen).toMatchObject({ code: Code.Unauthenticated, message: "token is not the one of the operator" });
        expect(seen.challenge).toMatch(/^Bearer realm="offledger", error="invalid_token"/);
      }
      expect(await call(url, `Bearer ${TOKEN}`)).toMatchObject({ code: "ok" });
    });
  });

  test("metrics, warnings, pages and unknown paths need the token, but not the paths that are open", async () => {
    const { url } = await serveOperator({ tokenFile: await fileOf(TOKEN) });
    const right = `Bearer ${TOKEN}`;
    for (const path of ["/metrics", "/warnings", CLOSED_PAGE, "/livez"]) {
      expect([path, await statusOf(url + path)]).toEqual([path, 401]);
      expect([path, await statusOf(url + path, right)]).toEqual([path, 200]);
    }
    for (const path of ["/", "/docs", "/nothing", "/metrics/", "//metrics", `${OPEN_PAGE}/nothing`, "/page%2Fdata"]) {
      expect([path, await statusOf(url + path)]).toEqual([path, 401]);
      expect([path, await statusOf(url + path, right)]).toEqual([path, 404]);
    }
    expect(await statusOf(url + OPEN_PAGE)).toBe(200);
    expect(await statusOf(url + OPEN_PAGE, undefined, "POST")).toBe(401);
    expect(await statusOf(url + OPEN_PAGE, right, "POST")).toBe(405);
    const response = await fetch(`${url}/metrics`);
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="offledger"');
    expect(await response.json()).toEqual({ error: "bearer token required in the Authorization header" });
  });

  test("a request with two tokens is rejected", async () => {
    const { url } = await serveOperator({ tokenFile: await fileOf(TOKEN) });
    const headers = { Authorization: [`Bearer ${TOKEN}`, "Bearer other"] };
    expect((await requestHttp1(url, "/livez", headers)).status).toBe(401);
  });

  test("any host and any address is served", async () => {
    const { url } = await serveOperator({ tokenFile: await fileOf(TOKEN), host: "0.0.0.0" });
    const headers = { host: "registry.example", authorization: `Bearer ${TOKEN}` };
    expect((await requestHttp1(`http://127.0.0.1:${new URL(url).port}`, "/livez", headers)).status).toBe(200);
  });

  test("the token is read again when its file changes", async () => {
    const tokenFile = await fileOf(TOKEN);
    const { url, messages } = await serveOperator({ tokenFile });
    const metrics = `${url}/metrics`;
    const accepts = async (token: string) => (await statusOf(metrics, `Bearer ${token}`)) === 200;
    expect(await accepts(TOKEN)).toBe(true);
    await rename(await fileOf("another-token-of-24-char"), tokenFile);
    await until("the second token is accepted", () => accepts("another-token-of-24-char"));
    expect(await accepts(TOKEN)).toBe(false);
    expect(messages).toEqual(["operator token reloaded"]);
    await writeFile(tokenFile, "short");
    await until("the failure is logged", () => messages.length === 2);
    await rm(tokenFile);
    await until("the failure is logged again", () => messages.length === 3);
    expect(messages.slice(1)).toEqual(
      Array.from({ length: 2 }, () => "operator token reload failed; still accepting the previous one"),
    );
    expect(await accepts("another-token-of-24-char")).toBe(true);
    await writeFile(tokenFile, `\n${TOKEN}\n`);
    await until("the last token is accepted", () => accepts(TOKEN));
    expect(await (await fetch(metrics, { headers: { authorization: `Bearer ${TOKEN}` } })).text()).toBe(METRICS);
  });
});

describe("a token file", () => {
  test.each([
    ["with 15 characters", " 0123456789abcde\n", "has 15 characters"],
    ["with other letters", "0123456789abcdéf", "has spaces, or is not ASCII"],
  ])("%s is rejected without showing the token", async (_title, content, reason) => {
    const path = await fileOf(content);
    const failure: unknown = await OperatorToken.read(path).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "OperatorTokenError", message: `the token in ${path} ${reason}` });
  });

  test("that is missing is rejected with its path", async () => {
    const path = `${await fileOf(TOKEN)}-missing`;
    await expect(OperatorToken.read(path)).rejects.toThrow(`${path} cannot be read (ENOENT)`);
  });
});
