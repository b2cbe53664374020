/** Access to the operator's port: without a token it serves this machine only, apart from metrics and warnings. */
import { rename, writeFile } from "node:fs/promises";
import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { readOperatorToken } from "../../../src/transport/operator/access.js";
import { callNamed } from "../../fixtures/calls/index.js";
import { requestHttp1 } from "../../fixtures/http-requests.js";
import { type Client, clients } from "../../fixtures/protocols.js";
import { accepting, requestForms, sendForm } from "../../fixtures/requests-in-forms.js";
import { until } from "../../fixtures/wait.js";
import { CLOSED_PAGE, fileOf, OPEN_PAGE, serveOperator, TOKEN } from "./serve-operator.js";

const live = callNamed("liveness");
const SERVED = { code: 0, message: "", challenge: null };
async function see(send: Client, url: string, authorization?: string) {
  const { code, message, headers } = await send(
    url,
    live,
    authorization === undefined ? {} : { headers: { authorization } },
  );
  return { code, message, challenge: headers.get("www-authenticate") };
}

/** A GET with any Host header. */
const get = (url: string, path: string, host: string) =>
  requestHttp1(`http://127.0.0.1:${new URL(url).port}`, path, { host });
/** Over gRPC, with any authority. */
const grpc = (url: string, authority: string) =>
  sendForm(url, "gRPC", accepting(requestForms.gRPC(live), authority, ":authority"));

describe("without a token", () => {
  const NOT_LOOPBACK =
    "this is served to operators only: set OFFLEDGER_OPERATOR_TOKEN_FILE, or bind the operator's port to a loopback address";

  test.each(Object.entries(clients))("%s is served on a loopback address only", async (_protocol, send) => {
    const { url } = await serveOperator();
    expect([await see(send, url), await see(send, url, "Bearer any")]).toEqual([SERVED, SERVED]);
    const { port } = new URL((await serveOperator({ host: "0.0.0.0" })).url);
    const refused = { code: Code.PermissionDenied, message: NOT_LOOPBACK, challenge: null };
    expect(await see(send, `http://127.0.0.1:${port}`)).toEqual(refused);
  });

  test("a port that is bound to all addresses serves only metrics and warnings, to any host", async () => {
    const { url } = await serveOperator({ host: "0.0.0.0" });
    for (const host of ["prometheus.example:9464", "127.0.0.1"]) {
      for (const path of ["/metrics", "/warnings"]) expect((await get(url, path, host)).status).toBe(200);
      for (const path of [OPEN_PAGE, CLOSED_PAGE, "/livez", "/", "/nothing"]) {
        const { status, body } = await get(url, path, host);
        expect([path, status, JSON.parse(body)]).toEqual([path, 403, { error: NOT_LOOPBACK }]);
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
    const { headers } = await grpc(url, "evil.example");
    expect([headers["grpc-status"], headers["grpc-message"]]).toEqual(["7", expect.stringContaining("evil.example")]);
    for (const path of ["/metrics", "/warnings"]) expect((await get(url, path, "evil.example")).status).toBe(200);
  });

  test("no response has headers of CORS", async () => {
    const { url } = await serveOperator();
    const origin = { origin: "https://evil.example" };
    const preflight = { ...origin, "access-control-request-method": "GET" };
    for (const path of ["/metrics", "/warnings", "/livez", OPEN_PAGE, "/nothing"])
      for (const init of [{ headers: origin }, { method: "OPTIONS", headers: preflight }]) {
        const { headers } = await fetch(url + path, init);
        expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
      }
  });
});

const statusOf = async (url: string, authorization?: string, method = "GET"): Promise<number> =>
  (await fetch(url, { method, ...(authorization !== undefined && { headers: { authorization } }) })).status;

describe("with a token", () => {
  test.each(Object.entries(clients))("%s needs the token", async (_protocol, send) => {
    const { url } = await serveOperator({ tokenFile: await fileOf(`${TOKEN}\n`) });
    const missing = {
      code: Code.Unauthenticated,
      message: "bearer token required in the Authorization header",
      challenge: 'Bearer realm="offledger"',
    };
    expect([await see(send, url), await see(send, url, `Basic ${TOKEN}`)]).toEqual([missing, missing]);
    for (const wrong of [`${TOKEN}0`, TOKEN.slice(1), TOKEN.toUpperCase(), "x".repeat(10_000)])
      expect(await see(send, url, `Bearer ${wrong}`)).toEqual({
        code: Code.Unauthenticated,
        message: "token is not the one of the operator",
        challenge: expect.stringMatching(/^Bearer realm="offledger", error="invalid_token"/) as string,
      });
    expect(await see(send, url, `Bearer ${TOKEN}`)).toEqual(SERVED);
  });

  test("metrics, warnings, pages and unknown paths need the token, but not the paths that are open", async () => {
    const { url } = await serveOperator({ tokenFile: await fileOf(TOKEN) });
    const right = `Bearer ${TOKEN}`;
    for (const path of ["/metrics", "/metrics/", "/warnings", CLOSED_PAGE, "/livez"])
      expect([path, await statusOf(url + path), await statusOf(url + path, right)]).toEqual([path, 401, 200]);
    for (const path of ["/", "/docs", "/nothing", `${OPEN_PAGE}/nothing`, "/page%2Fdata"])
      expect([path, await statusOf(url + path), await statusOf(url + path, right)]).toEqual([path, 401, 404]);
    expect(await statusOf(url + OPEN_PAGE)).toBe(200);
    expect(await statusOf(url + OPEN_PAGE, undefined, "POST")).toBe(401);
    expect(await statusOf(url + OPEN_PAGE, right, "POST")).toBe(405);
    const response = await fetch(`${url}/metrics`);
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="offledger"');
    expect(await response.json()).toEqual({ error: "bearer token required in the Authorization header" });
    const twice = { Authorization: [right, "Bearer other"] };
    expect((await requestHttp1(url, "/livez", twice)).status).toBe(401);
  });

  test("any host and any address is served", async () => {
    const { url } = await serveOperator({ tokenFile: await fileOf(TOKEN), host: "0.0.0.0" });
    const headers = { host: "registry.example", authorization: `Bearer ${TOKEN}` };
    expect((await requestHttp1(`http://127.0.0.1:${new URL(url).port}`, "/livez", headers)).status).toBe(200);
  });

  test("the token is read again when its file changes", async () => {
    const tokenFile = await fileOf(TOKEN);
    const { url, messages } = await serveOperator({ tokenFile });
    const accepts = async (token: string) => (await statusOf(`${url}/metrics`, `Bearer ${token}`)) === 200;
    expect(await accepts(TOKEN)).toBe(true);
    await rename(await fileOf("another-token-of-24-char"), tokenFile);
    await until("the second token is accepted", () => accepts("another-token-of-24-char"));
    expect([await accepts(TOKEN), messages]).toEqual([false, ["operator token reloaded"]]);
    await writeFile(tokenFile, "short");
    await until("the failure is logged", () => messages.length === 2);
    expect(await accepts("another-token-of-24-char")).toBe(true);
  });
});

test.each([
  ["with 15 characters", " 0123456789abcde\n", "has 15 characters"],
  ["with other letters", "0123456789abcdéf", "has spaces, or is not ASCII"],
])("a token file %s is rejected without showing the token; so is a missing one", async (_title, content, reason) => {
  const path = await fileOf(content);
  const failure: unknown = await readOperatorToken(path).catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: "FileError", message: `the token in ${path} ${reason}` });
  await expect(readOperatorToken(`${path}-missing`)).rejects.toThrow(`${path}-missing cannot be read (ENOENT)`);
});
