/**
 * Each command of deploy/localnet runs as a process, in its order, with its environment. npx gives the built package; the
 * participants and the registry's answers are recorded ones.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { PostgresServer } from "../fixtures/postgres-server.js";
import { temporaryFolder } from "../fixtures/files.js";
import { freePort } from "../fixtures/free-port.js";
import { until } from "../fixtures/wait.js";
import { dar, type Exchange, recordedId, recording, replay } from "../localnet/replay.js";
import { environmentOf, interpolated, servicesOf, type Service, type Variables } from "./localnet.js";

const TOKEN = `issuer: coffee
parties: { alice: app-provider, bob: app-user, venue: app-provider }
instruments:
  - { id: GOLD, name: Gold, symbol: GLD, decimals: 2, balances: { alice: "100.0", bob: "50.0" } }
  - { id: SILVER, balances: { bob: "20.0" } }
`;

/** The folders of the containers, and programs for what they find there. */
async function containers(files: Readonly<Record<string, string>>) {
  const root = await temporaryFolder();
  for (const folder of ["bin", "token", "offledger"]) await mkdir(join(root, folder));
  for (const [path, text] of Object.entries(files)) await writeFile(join(root, path), text);
  const main = join(process.cwd(), "packages/localnet/src/main.ts");
  const tsx = import.meta.resolve("tsx");
  const programs = {
    npx: `shift 2; exec "${process.execPath}" --import "${tsx}" "${main}" "$@"`,
    // Only root may.
    chown: "true",
  };
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(root, "bin", name), `#!/bin/sh\n${text}\n`);
    await chmod(join(root, "bin", name), 0o755);
  }
  const inside = (text: string) => text.replaceAll(/(?<![\w/])\/(token|offledger)(?=\/|$)/g, `${root}/$1`);

  /** Runs the command of a service. Of the environment the test replaces hosts, as the network of containers would. */
  function start(service: Service | undefined, given: Variables, replaced: Variables, program?: readonly string[]) {
    const environment = {
      ...environmentOf(service ?? {}, { OFFLEDGER_LOCALNET_DIR: "/token", ...given }),
      ...replaced,
    };
    const { entrypoint = [], command = [] } = service ?? {};
    const [file = "", ...args] = [...(program ?? entrypoint), ...command].map((text) =>
      inside(interpolated(text, given)),
    );
    const child = spawn(file, args, {
      cwd: join(root, "token"),
      env: {
        PATH: `${root}/bin:${process.env["PATH"] ?? ""}`,
        ...Object.fromEntries(Object.entries(environment).map(([name, text]) => [name, inside(text)])),
      },
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const output: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => void output.push(text));
    return { child, text: () => output.join("") };
  }
  return { root, start };
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null) await once(child, "close");
  return child.exitCode;
}

const packageOf = (name: string) => recordedId(new RegExp(`"packageId":"([0-9a-f]{64})"[^}]*"${name}"`));

async function dars(): Promise<string> {
  const [token, app] = ["splice-test-token-v2", "splice-token-test-trading-app"];
  return [await dar(token, "1.0.0", packageOf(token)), await dar(app, "1.0.2", packageOf(app))].join(",");
}

/** Recorded as another user. */
const recorded = async (exchanges: readonly Exchange[], user = "ledger-api-user") =>
  replay(JSON.parse(JSON.stringify(exchanges).replaceAll("participant_admin", user)) as readonly Exchange[]);

const participants = ({ app, user }: { readonly app: string; readonly user: string }) =>
  `app-provider=${app},app-user=${user}`;

test("with a shared secret", { timeout: 60_000 }, async () => {
  const services = servicesOf("splice.yaml");
  const { root, start } = await containers({ "token/token.yaml": TOKEN });
  const given = { OFFLEDGER_LOCALNET_DARS: await dars() };
  const net = await recorded(recording.first);
  const hosts = { LOCALNET_PARTICIPANT: participants(net), LOCALNET_SYNCHRONIZERS: "2" };
  const setup = start(services["offledger-setup"], given, hosts);
  expect([await ended(setup.child), net.refused, net.left.length, setup.text()]).toEqual([
    0,
    [],
    0,
    expect.any(String),
  ]);
  expect(await readFile(join(root, "offledger/token"), "utf8")).toMatch(/^ey/);

  const port = String(await freePort());
  const service = start(
    services["offledger"],
    {},
    { OFFLEDGER_LEDGER_URL: net.app, OFFLEDGER_PORT: port, OFFLEDGER_DRAIN_SECONDS: "0" },
    [process.execPath, join(process.cwd(), "dist/src/main.js"), "serve"],
  );
  await until("the service listens", () => service.text().includes("offledger listens"), 20_000);
  expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);

  const accepted = await recorded(recording.accepted);
  const balances = start(services["offledger-balances"], given, {
    LOCALNET_PARTICIPANT: participants(accepted),
    LOCALNET_SYNCHRONIZERS: "2",
    LOCALNET_REGISTRY: accepted.registry,
  });
  expect([await ended(balances.child), accepted.refused, accepted.left.length]).toEqual([0, [], 0]);
  expect(balances.text()).toContain("100.0 GOLD for alice: minted and accepted");

  const opened = await recorded(recording.moves);
  const faucetPort = String(await freePort());
  const faucet = start(
    services["offledger-faucet"],
    {},
    {
      LOCALNET_PARTICIPANT: participants(opened),
      LOCALNET_SYNCHRONIZERS: "2",
      LOCALNET_REGISTRY: opened.registry,
      LOCALNET_PORT: faucetPort,
    },
  );
  await until("the faucet listens", () => faucet.text().includes("for development only"), 20_000);
  expect(await (await fetch(`http://127.0.0.1:${faucetPort}/`)).text()).toContain("<form");
});

test(
  "with OAuth2 the participants' clients act, and the service gets its client's secret",
  { timeout: 60_000 },
  async () => {
    const services = servicesOf("splice.yaml", "quickstart.yaml", "quickstart-oauth2.yaml");
    const { root, start } = await containers({ "token/token.yaml": TOKEN });
    const asked: string[] = [];
    const issuer = createServer((request, response) => {
      void textOf(request).then((body) => {
        asked.push(
          `${request.url} ${new URLSearchParams(body).get("client_id")} ${new URLSearchParams(body).get("client_secret")}`,
        );
        const token = `e30.${Buffer.from('{"sub":"client-user"}').toString("base64url")}.x`;
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ access_token: token, expires_in: 300 }));
      });
    }).listen(0, "127.0.0.1");
    await once(issuer, "listening");
    onTestFinished(() => void issuer.close());
    const url = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
    const net = await recorded(recording.first, "client-user");
    const setup = start(
      services["offledger-setup"],
      {
        OFFLEDGER_LOCALNET_DARS: await dars(),
        AUTH_APP_PROVIDER_TOKEN_URL: `${url}/provider`,
        AUTH_APP_USER_TOKEN_URL: `${url}/user`,
      },
      {
        LOCALNET_PARTICIPANT: participants(net),
        LOCALNET_SYNCHRONIZERS: "2",
        // As recorded; by default it is the client's user.
        LOCALNET_SERVICE_USER: "offledger",
        // Of Quickstart's files.
        AUTH_APP_PROVIDER_VALIDATOR_CLIENT_ID: "provider-client",
        AUTH_APP_PROVIDER_VALIDATOR_CLIENT_SECRET: "provider-secret",
        AUTH_APP_USER_VALIDATOR_CLIENT_ID: "user-client",
        AUTH_APP_USER_VALIDATOR_CLIENT_SECRET: "user-secret",
      },
    );
    expect([await ended(setup.child), net.refused, net.left.length]).toEqual([0, [], 0]);
    expect(asked).toEqual(["/provider provider-client provider-secret", "/user user-client user-secret"]);
    expect(await readFile(join(root, "offledger/client-secret"), "utf8")).toBe("provider-secret");
    // It is not the service that signs.
    await expect(readFile(join(root, "offledger/token"))).rejects.toThrow("ENOENT");
  },
);

test(
  "with PostgreSQL the schema is migrated first, with the password of the LocalNet",
  { timeout: 60_000 },
  async () => {
    const { start } = await containers({});
    const server = await PostgresServer.create();
    onTestFinished(() => server.remove());
    const { username, password, host, pathname } = new URL(server.url);
    const migration = start(
      servicesOf("postgres.yaml")["offledger-migrate"],
      { DB_USER: username, DB_PASSWORD: password },
      { OFFLEDGER_DATABASE_URL: `postgres://${username}@${host}${pathname}` },
      [process.execPath, join(process.cwd(), "dist/src/main.js")],
    );
    expect([await ended(migration.child), migration.text()]).toEqual([0, "schema migrated from version 0 to 1\n"]);
  },
);
