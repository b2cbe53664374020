/** `offledger explain` as a program, against the operator's port of a service. `npm run test:all` builds it first. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { App } from "../../src/app/app.js";
import type { AppConfig } from "../../src/config/limits.js";
import { createCertificates, hasOpenssl } from "../fixtures/certificates.js";
import { element, payload } from "../fixtures/elements.js";
import { snapshotFile, temporaryFile } from "../fixtures/files.js";
import { type Ended, start as startProgram } from "../fixtures/program.js";
import { registry } from "../fixtures/run-service.js";
import { start } from "../telemetry/starting.js";

const TOKEN = "0123456789abcdef0123456789abcdef";

type Env = Readonly<Record<string, string>>;

/** Explains the request of an id; or what is given on stdin. */
function explain(port: string, id: string | { readonly stdin: string }, env: Env = {}): Promise<Ended> {
  const program = startProgram(["explain", typeof id === "string" ? id : "-"], {
    OFFLEDGER_METRICS_PORT: port,
    ...env,
  });
  if (typeof id !== "string") program.input(id.stdin);
  return program.ended();
}

const portOf = ({ metricsUrl = "" }: App): string => new URL(metricsUrl).port;

const serve = async (config: Partial<AppConfig> = {}): Promise<App> =>
  start({
    metricsPort: { host: "127.0.0.1", port: 0 },
    graceSeconds: 2,
    snapshot: await snapshotFile(element("AllocationFactory", "factory", payload.service())),
    ...config,
  });

/** The id of a request that is refused. */
async function refused({ url }: App): Promise<string> {
  const headers = { "content-type": "application/json" };
  const path = `${registry()}/transfer-instruction/v1/00ab/choice-contexts/accept`;
  const response = await fetch(url + path, { method: "POST", headers, body: "{}" });
  expect(response.ok).toBe(false);
  return response.headers.get("x-request-id") ?? "";
}

// test/docs/programs.slow.test.ts has what is printed of a refused request, and of one on stdin.
test("a request on stdin with mistakes ends with 2", async () => {
  const port = portOf(await serve());
  const mistakes = [
    ['{"operation":"nothing"}', 'status 400, call.operation is "nothing", which is no operation'],
    ["{", "the request on stdin cannot be read: "],
    ["[]", 'the request on stdin cannot be read: it must be an object with "operation" and "request"'],
    [`"${"x".repeat(17 * 1024 * 1024)}"`, "cannot be read: it exceeds 16 MiB"],
  ] as const;
  for (const [stdin, message] of mistakes) {
    const { code, out, err } = await explain(port, { stdin });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
  }
});

/** A server in place of the service. */
async function portOfServer(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return String((server.address() as AddressInfo).port);
}

const pretend = (listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  onTestFinished(() => server.closeAllConnections());
  return portOfServer(server);
};

describe("the operator's port", () => {
  test.each([
    ["", "it is not set"],
    ["0", "it is 0, which selects a free port"],
  ])("%j ends with 2", async (port, reason) => {
    const message = `offledger: OFFLEDGER_METRICS_PORT must be the port on which the service has its operator's port: ${reason}\n`;
    expect(await explain(port, "id")).toEqual({ code: 2, out: "", err: message });
  });

  test("an id that is not kept, and a port on which nothing listens: 1", async () => {
    const app = await serve();
    const port = portOf(app);
    const unknown = await explain(port, "order-17");
    expect(unknown).toMatchObject({ code: 1, out: "" });
    expect(unknown.err).toMatch(
      /^offledger: the service at http:\S+ cannot explain the request: status 404, no refused request order-17 is kept: .*\n$/,
    );
    await app.close();
    const message = `offledger: the service at http://127.0.0.1:${port} cannot explain the request: connect ECONNREFUSED 127.0.0.1:${port}\n`;
    expect(await explain(port, "id")).toEqual({ code: 1, out: "", err: message });
  });

  test("with a token: the right one, a wrong one, none, and no file", async () => {
    const right = await temporaryFile("token", `${TOKEN}\n`);
    const app = await serve({ operatorTokenFile: right });
    const id = await refused(app);
    const withFile = (path: string) => explain(portOf(app), id, { OFFLEDGER_OPERATOR_TOKEN_FILE: path });
    expect(await withFile(right)).toMatchObject({ code: 0, err: "" });
    const rejected = await withFile(await temporaryFile("wrong", "another-token-of-an-operator"));
    expect(rejected.code).toBe(2);
    expect(rejected.err).toMatch(/status 401, .*: check the file of OFFLEDGER_OPERATOR_TOKEN_FILE\n$/);
    expect(rejected.err).not.toContain("another-token");
    const without = await explain(portOf(app), id);
    expect(without.code).toBe(2);
    expect(without.err).toMatch(/status 401, .*: set OFFLEDGER_OPERATOR_TOKEN_FILE\n$/);
    const missing = await withFile("/nowhere");
    expect(missing.code).toBe(2);
    expect(missing.err).toContain(
      "OFFLEDGER_OPERATOR_TOKEN_FILE must be the path of a readable file with the operator's token: ENOENT",
    );
  });

  test("on all addresses without a token: 2, and says what to set", async () => {
    const app = await serve({ metricsPort: { host: "0.0.0.0", port: 0 } });
    const { code, err } = await explain(`0.0.0.0:${portOf(app)}`, "id");
    expect(code).toBe(2);
    expect(err).toContain("status 403, this is served to operators only: set OFFLEDGER_OPERATOR_TOKEN_FILE");
  });

  test("no explanation, a large answer, none within 10 s, and one that stalls in the middle: 1", async () => {
    const answers: readonly (readonly [RequestListener, string])[] = [
      [(_request, response) => response.end("<html>"), "the answer is no explanation"],
      [(_request, response) => response.end("x".repeat(17 * 1024 * 1024)), "the response exceeds 16777216 bytes"],
      [() => {}, "no response within 10 seconds"],
      [(_request, response) => response.write("{"), "no response within 10 seconds"],
    ];
    const ended = await Promise.all(answers.map(async ([listener]) => explain(await pretend(listener), "id")));
    for (const [index, [, message]] of answers.entries())
      expect(ended[index]).toMatchObject({ code: 1, err: expect.stringContaining(message) });
  });

  test.skipIf(!hasOpenssl)("with TLS: the service's certificate is accepted, another gets no token", async () => {
    const { key, cert } = createCertificates();
    const tlsKeyFile = await temporaryFile("key.pem", key);
    const tlsCertFile = await temporaryFile("cert.pem", cert);
    const operatorTokenFile = await temporaryFile("token", TOKEN);
    const env = {
      OFFLEDGER_TLS_KEY_FILE: tlsKeyFile,
      OFFLEDGER_TLS_CERT_FILE: tlsCertFile,
      OFFLEDGER_OPERATOR_TOKEN_FILE: operatorTokenFile,
    };
    const app = await serve({ tlsCertFile, tlsKeyFile, operatorTokenFile });
    expect((await explain(portOf(app), "id", env)).err).toContain("status 404, no refused request id is kept");

    let requests = 0;
    const impostor = createTlsServer(createCertificates(), (_request, response) => {
      requests++;
      response.end();
    });
    const { code, err } = await explain(await portOfServer(impostor), "id", env);
    expect(code).toBe(1);
    expect(err).toContain("the port serves another certificate than the one of OFFLEDGER_TLS_CERT_FILE");
    expect(requests).toBe(0);
  });
});
