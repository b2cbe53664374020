/** User and password of any URL that an operator writes are in no output of the program. */
import http from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFile, temporaryFolder } from "../fixtures/files.js";
import { type Program, start, startAtTerminal } from "../fixtures/program.js";
import { until } from "../fixtures/wait.js";

const SECRETS = /s3cret|opsUser|qu3ry/;
const ledger = { OFFLEDGER_LEDGER_PARTIES: "registrar::1220" };

/** A gateway that has no JSON Ledger API, no issuer and no receiver of traces. */
async function gateway(): Promise<string> {
  const server = http.createServer((request, response) => {
    const isEnd = request.url?.includes("/ledger-end") === true;
    response.writeHead(isEnd ? 200 : 404, { "content-type": "application/json" }).end(isEnd ? '{"offset":5}' : "{}");
  });
  server.on("upgrade", (_request, socket) => socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function everyAnswer(program: Program): Promise<string> {
  const url = await program.listens();
  const [, metrics = ""] = await program.printed(/"url":"(http[^"]+)\/metrics","msg":"metrics listening/);
  const paths = [`${url}/readyz`, `${url}/nothing`, `${metrics}/metrics`, `${metrics}/warnings`, `${metrics}/`];
  const answers = await Promise.all(paths.map(async (path) => (await fetch(path)).text()));
  const incidents = await fetch(`${metrics}/offledger.console.v1.ConsoleService/GetFreshness`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  return [...answers, await incidents.text(), program.out, program.err].join("\n");
}

test.each<[string, (host: string) => Promise<Readonly<Record<string, string>>>, RegExp]>([
  [
    "the participant",
    async (host) => ({ ...ledger, OFFLEDGER_LEDGER_URL: `http://opsUser:s3cret@${host}/json?qu3ry` }),
    /there is no JSON Ledger API at ws:/,
  ],
  [
    "the issuer",
    async (host) => ({
      ...ledger,
      OFFLEDGER_LEDGER_URL: `http://${host}`,
      OFFLEDGER_OIDC_ISSUER: `http://opsUser:s3cret@${host}/realm`,
      OFFLEDGER_OIDC_CLIENT_ID: "client",
      OFFLEDGER_OIDC_CLIENT_SECRET_FILE: await temporaryFile("secret", "of the client"),
    }),
    /answered status 404/,
  ],
  [
    "the keys of callers' tokens",
    async (host) => ({
      OFFLEDGER_AUTH_JWKS_URL: `http://${host}/keys?qu3ry`,
      OFFLEDGER_AUTH_ISSUER: "issuer",
      OFFLEDGER_AUTH_AUDIENCE: "audience",
    }),
    /issuer keys unavailable/,
  ],
  [
    "the database",
    async (host) => ({ OFFLEDGER_DATABASE_URL: `postgres://opsUser:s3cret@${host}/registry?password=qu3ry` }),
    /database not usable yet/,
  ],
  [
    "the receiver of traces",
    async (host) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://opsUser:s3cret@${host}/otlp` }),
    /trace export failed/,
  ],
])("%s", async (_what, settings, failure) => {
  const ports = { OFFLEDGER_PORT: "0", OFFLEDGER_METRICS_PORT: "0" };
  const program = start(["serve"], { ...ports, OFFLEDGER_LOG_LEVEL: "trace", ...(await settings(await gateway())) });
  // Traces are of requests.
  await fetch(`${await program.listens()}/nothing`);
  await until("its failure is logged", () => failure.test(program.err), 60_000);
  expect(await everyAnswer(program)).not.toMatch(SECRETS);
});

test("at a terminal", async () => {
  const url = `http://opsUser:s3cret@${await gateway()}/json?qu3ry`;
  const program = startAtTerminal(["serve", "--port", "0", "--ledger-url", url, "--ledger-parties", "registrar::1220"]);
  await program.printed(/offledger follows http:\/\/127\.0\.0\.1:\d+\/json and listens at /);
  expect(program.out + program.err).not.toMatch(SECRETS);
});

test.each([
  ["check", "OFFLEDGER_LEDGER_URL", "http://opsUser:s3cret@127.0.0.1:9/json"],
  ["migrate", "OFFLEDGER_DATABASE_URL", "postgres://opsUser:s3cret@127.0.0.1:9/registry"],
  ["migrate", "OFFLEDGER_DATABASE_URL", "postgres://opsUser:s3cr/s3cret@127.0.0.1:9/registry"],
  ["serve", "OFFLEDGER_LEDGER_URL", "http://opsUser:5432#s3cret@127.0.0.1:9/json"],
])("%s, of a %s that cannot be used", async (command, name, url) => {
  const { code, out, err } = await start([command], {
    ...(name === "OFFLEDGER_LEDGER_URL" && ledger),
    [name]: url,
  }).ended();
  expect(code).not.toBe(0);
  expect(err).toContain(name);
  expect(out + err).not.toMatch(/s3cret|5432|opsUser/);
});

test.each(["postgresql:///registry?host=DIRECTORY", "postgresql://opsUser:s3cret@/registry?host=DIRECTORY&port=6432"])(
  "a socket is named by its directory: %s",
  async (form) => {
    const directory = await temporaryFolder();
    const url = form.replace("DIRECTORY", directory);
    const { code, err } = await start(["migrate"], { OFFLEDGER_DATABASE_URL: url }).ended();
    expect([code, err.includes(`connect ENOENT ${directory}/.s.PGSQL.`), SECRETS.test(err)]).toEqual([1, true, false]);
  },
);
