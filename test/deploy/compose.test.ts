/** deploy/compose.yaml and compose.participant.yaml match the program, and docs/deploy.md matches them. */
import { readFileSync } from "node:fs";
import { BlockList } from "node:net";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Config, readConfig } from "../../src/config/config.js";
import { LIMITS } from "../../src/config/limits.js";
import { type Setting } from "../../src/config/setting.js";
import { settings } from "../../src/config/settings.js";
import { type Stage, stages } from "./dockerfile.js";
import { environmentOf as variablesOf, type Variables } from "./localnet.js";

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly user?: string;
  readonly stop_grace_period?: string;
  readonly environment: Variables;
  readonly secrets?: readonly string[];
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: object;
  readonly deploy: { readonly replicas?: number; readonly resources: { readonly limits: { readonly memory: string } } };
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<
    Record<
      string,
      { readonly ipam?: { readonly config: readonly { readonly subnet: string; readonly gateway: string }[] } }
    >
  >;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const composeFile = (name: string) => parse(readFileSync(`deploy/${name}`, "utf8"), { merge: true }) as Compose;

/** The variables of a service: those of later files count. */
const environmentOf = (parts: readonly (Service | undefined)[], given: Variables = {}): Variables =>
  variablesOf({ environment: Object.assign({}, ...parts.map((part) => part?.environment)) as Variables }, given);

/** `512m`, `2g` in megabytes; `20s` in seconds. */
function amount(text = ""): number {
  const [, digits, unit] = /^(\d+)([mgs])$/.exec(text) ?? [];
  if (digits === undefined) throw new Error(`unsupported amount "${text}"`);
  return Number(digits) * (unit === "g" ? 1024 : 1);
}

const compose = composeFile("compose.yaml");
const participant = composeFile("compose.participant.yaml");
const { postgres, ...ours } = compose.services;
const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const image = stages().at(-1) as Stage;
const known = new Set([
  ...Object.values<Setting<unknown>>(settings).map(({ variable }) => variable),
  // Of Node.js and of the database driver.
  "NODE_OPTIONS",
  "PGPASSFILE",
]);

/** The configuration from the image and the compose files together. */
function configOf(name: string, env: Variables): Config {
  expect(Object.keys(env).filter((variable) => !known.has(variable))).toEqual([]);
  const read = readConfig(ours[name]?.command ?? [], { ...image.env, ...env });
  if (!read.ok) throw new Error(`${name}: ${read.errors.join("\n")}`);
  expect(read.command).toBe(name);
  return read.config;
}

describe.each(["migrate", "mirror", "api"])("%s", (name) => {
  const service = ours[name] as Service;

  test("runs the current image as its user, with valid settings and without a password", () => {
    expect(service).toMatchObject({ image: expect.stringContaining(`offledger:${version}`), user: image.last("USER") });
    const config = configOf(name, environmentOf([service]));
    expect(config.databaseUrl?.secret).toMatch(/^postgres(?:ql)?:\/\/offledger@postgres[:/]/);
    expect(config.databasePasswordFile).toBe("/run/secrets/offledger_password");
    expect(service.secrets).toContain("offledger_password");
    expect(service.networks).toContain("database");
    expect(amount(service.stop_grace_period)).toBeGreaterThan(config.drainSeconds + LIMITS.graceSeconds + 5);
  });

  test.skipIf(name === "migrate")("starts after the migration, with a heap below its memory", () => {
    expect(service.depends_on).toEqual({ migrate: { condition: "service_completed_successfully" } });
    const heap = Number(/^--max-old-space-size=(\d+)$/.exec(service.environment["NODE_OPTIONS"] ?? "")?.[1]);
    expect(heap).toBeLessThanOrEqual(amount(service.deploy.resources.limits.memory) * 0.75);
    expect(heap).toBeGreaterThan(512);
  });
});

test.each(Object.entries(compose.services))("%s has few privileges, and limits", (_name, service) => {
  expect(service).toMatchObject({
    user: expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/),
    read_only: true,
    cap_drop: ["ALL"],
    security_opt: ["no-new-privileges:true"],
    pids_limit: expect.any(Number),
  });
  expect(amount(service.deploy.resources.limits.memory)).toBeGreaterThan(0);
  for (const name of ["privileged", "cap_add"]) expect(service).not.toHaveProperty(name);
});

test("only the services reach PostgreSQL, and only this machine reaches them", () => {
  expect(postgres?.networks).toEqual(["database"]);
  expect(compose.networks["database"]).toEqual({ internal: true });
  const published = Object.entries(compose.services).filter(([, { ports }]) => ports !== undefined);
  expect(published.map(([name]) => name)).toEqual(["api"]);
  const [, first, last, inside] = /^127\.0\.0\.1:(\d+)-(\d+):(\d+)$/.exec(ours["api"]?.ports?.join() ?? "") ?? [];
  expect(inside).toBe(image.last("EXPOSE"));
  expect(Number(last) - Number(first) + 1).toBe(ours["api"]?.deploy.replicas);
});

test("replicas take the client's address from a proxy on this machine, and from nobody else", () => {
  const { subnet = "", gateway = "" } = compose.networks["front"]?.ipam?.config[0] ?? {};
  const [network = "", prefix] = subnet.split("/");
  const front = new BlockList();
  front.addSubnet(network, Number(prefix));
  expect(front.check(gateway)).toBe(true);
  const proxies = (env = {}) => configOf("api", environmentOf([ours["api"]], env)).trustedProxies;
  expect(proxies()).toEqual([gateway]);
  expect(proxies({ OFFLEDGER_TRUSTED_PROXIES: "172.30.255.9" })).toEqual(["172.30.255.9"]);
});

test("all services together stay below PostgreSQL's connection limit", () => {
  // docs/configuration.md: plus 2 long-lived connections, and 3 during a snapshot.
  const max = Object.entries(ours).map(
    ([name, service]) =>
      (service.deploy.replicas ?? 1) * (configOf(name, environmentOf([service])).databaseConnections + 5),
  );
  expect(max.reduce((sum, count) => sum + count, 0)).toBeLessThan(97);
});

test("with a participant, the mirror reads it with a token from a file, by a network with a way out, and requires its URL", () => {
  const { mirror, ...others } = participant.services;
  const given = { OFFLEDGER_LEDGER_URL: "https://participant.example", OFFLEDGER_LEDGER_PARTIES: "operator::1220" };
  expect(configOf("mirror", environmentOf([ours["mirror"], mirror], given))).toMatchObject({
    ledgerParties: ["operator::1220"],
    ledgerTokenFile: "/run/secrets/ledger_token",
  });
  expect(mirror).toMatchObject({ secrets: ["ledger_token"], networks: ["ledger"] });
  expect([participant.networks, others]).toEqual([{ ledger: {} }, {}]);
  expect(() => environmentOf([ours["mirror"], mirror])).toThrow(
    "OFFLEDGER_LEDGER_URL must be the base URL of the participant",
  );
});

test("docs/deploy.md gives each secret the owner that reads it, and names the current version and existing settings", () => {
  const guide = readFileSync("docs/deploy.md", "utf8");
  const owner = (secret: string) => new RegExp(`sudo chown (\\d+) deploy/secrets/${secret}\\b`).exec(guide)?.[1] ?? "";
  expect(`${owner("offledger_password")}:${owner("offledger_password")}`).toBe(image.last("USER"));
  expect(`${owner("database_password")}:${owner("database_password")}`).toBe(postgres?.user);
  expect(guide).toContain("chmod 400 deploy/secrets/*_password\n");
  for (const { file } of Object.values(compose.secrets)) expect(guide).toContain(`> deploy/${file.slice(2)}\n`);
  expect(readFileSync("deploy/.gitignore", "utf8").split("\n")).toContain("secrets/");
  expect(new Set(guide.match(/offledger:\d[\d.]*\d/g))).toEqual(new Set([`offledger:${version}`]));
  const named = guide.match(/\bOFFLEDGER_[A-Z_]+/g) ?? [];
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});
