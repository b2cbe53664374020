/** deploy/compose.yaml and compose.participant.yaml match the program, and docs/deploy.md matches them. */
import { existsSync, readFileSync } from "node:fs";
import { BlockList } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Config, readConfig } from "../../src/config/config.js";
import { LIMITS } from "../../src/config/limits.js";
import { type Setting } from "../../src/config/setting.js";
import { settings } from "../../src/config/settings.js";
import { type Stage, stages } from "./dockerfile.js";

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly pids_limit?: number;
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly deploy: { readonly replicas?: number; readonly resources: { readonly limits: { readonly memory: string } } };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<
    Record<
      string,
      {
        readonly internal?: boolean;
        readonly ipam?: { readonly config: readonly { readonly subnet: string; readonly gateway: string }[] };
      }
    >
  >;
  readonly volumes: Readonly<Record<string, object>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const composeFile = (name: string): unknown => parse(readFileSync(`deploy/${name}`, "utf8"), { merge: true });

/** Expands `${NAME:-default}` and `${NAME:?message}`. Throws if a required variable is missing. */
function interpolated(text: string, env: Readonly<Record<string, string>> = {}): string {
  return text.replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, operator: string, rest: string) => {
    const value = env[name];
    if (value !== undefined && value !== "") return value;
    if (operator === "?") throw new Error(`${name} ${rest}`);
    return rest;
  });
}

/** The environment of a service; later files override earlier ones. */
function environmentOf(
  parts: readonly (Partial<Service> | undefined)[],
  env?: Readonly<Record<string, string>>,
): Record<string, string> {
  const entries = parts.flatMap((part) => Object.entries(part?.environment ?? {}));
  return Object.fromEntries(entries.map(([name, value]) => [name, interpolated(value, env)]));
}

/** `512m`, `2g` in megabytes; `20s` in seconds. */
function amount(text: string | undefined): number {
  const [, digits, unit = ""] = /^(\d+)([mgs])$/.exec(text ?? "") ?? [];
  if (digits === undefined) throw new Error(`unsupported amount "${text}"`);
  return Number(digits) * (unit === "g" ? 1024 : 1);
}

const compose = composeFile("compose.yaml") as Compose;
const participant = composeFile("compose.participant.yaml") as Compose;
const { postgres, ...ours } = compose.services as Record<string, Service> & { postgres: Service };
const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const image = stages().at(-1) as Stage;
/** Variables of Node.js and of the database driver. */
const otherVariables = ["NODE_OPTIONS", "PGPASSFILE"];
const known = new Set([
  ...Object.values<Setting<unknown>>(settings).map(({ variable }) => variable),
  ...otherVariables,
]);

/** The configuration from the image and the compose files together. */
function configOf(name: string, env: Record<string, string>): Config {
  const read = readConfig(ours[name]?.command ?? [], { ...image.env, ...env });
  if (!read.ok) throw new Error(`${name}: ${read.errors.join("\n")}`);
  expect(read.command).toBe(name);
  return read.config;
}

test("runs migrate, mirror and api with the current image", () => {
  expect(Object.fromEntries(Object.entries(ours).map(([name, { command }]) => [name, command]))).toEqual({
    migrate: ["migrate"],
    mirror: ["mirror"],
    api: ["api"],
  });
  for (const { image: name } of Object.values(ours)) expect(interpolated(name)).toBe(`offledger:${version}`);
  expect(ours["mirror"]?.deploy.replicas).toBe(2);
  expect(ours["api"]?.deploy.replicas).toBe(2);
  expect(ours["migrate"]?.restart).toBe("no");
});

describe.each(Object.keys(ours))("%s", (name) => {
  const service = ours[name] as Service;

  test("has valid settings, and no password", () => {
    const env = environmentOf([service]);
    expect(Object.keys(env).filter((variable) => !known.has(variable))).toEqual([]);
    const config = configOf(name, env);
    expect(config.databaseUrl?.secret).toMatch(/^postgres(?:ql)?:\/\/offledger@postgres[:/]/);
    expect(config.databasePasswordFile).toBe("/run/secrets/offledger_password");
    expect(service.secrets).toContain("offledger_password");
    expect(amount(service.stop_grace_period)).toBeGreaterThan(config.drainSeconds + LIMITS.graceSeconds + 5);
  });

  test("runs as the user of the image", () => {
    expect(service.user).toBe(image.last("USER"));
  });
});

test.each(["mirror", "api"])("%s has a heap limit below its memory limit", (name) => {
  const service = ours[name] as Service;
  const heap = Number(/^--max-old-space-size=(\d+)$/.exec(service.environment["NODE_OPTIONS"] ?? "")?.[1]);
  expect(heap).toBeLessThanOrEqual(amount(service.deploy.resources.limits.memory) * 0.75);
  expect(heap).toBeGreaterThan(512);
});

test.each(Object.entries(compose.services))("%s has few privileges, and limits", (_name, service) => {
  expect(service.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  expect(service.read_only).toBe(true);
  expect(service.cap_drop).toEqual(["ALL"]);
  expect(service.security_opt).toEqual(["no-new-privileges:true"]);
  expect(service.pids_limit).toBeGreaterThan(0);
  expect(amount(service.deploy.resources.limits.memory)).toBeGreaterThan(0);
  expect(service).not.toHaveProperty("privileged");
  expect(service).not.toHaveProperty("cap_add");
});

test("only the services reach PostgreSQL, and only this machine reaches them", () => {
  expect(postgres.networks).toEqual(["database"]);
  expect(compose.networks["database"]).toEqual({ internal: true });
  for (const { networks } of Object.values(ours)) expect(networks).toContain("database");
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

test("each service starts after its dependencies", () => {
  expect(ours["migrate"]?.depends_on).toEqual({ postgres: { condition: "service_healthy" } });
  expect(postgres.healthcheck?.test?.slice(0, 2)).toEqual(["CMD", "pg_isready"]);
  for (const name of ["mirror", "api"]) {
    expect(ours[name]?.depends_on).toEqual({ migrate: { condition: "service_completed_successfully" } });
    // The image has one.
    expect(ours[name]?.healthcheck).toBeUndefined();
  }
});

test("all services together stay below PostgreSQL's connection limit", () => {
  const max = Object.entries(ours).map(([name, service]) => {
    const { databaseConnections } = configOf(name, environmentOf([service]));
    // docs/postgres.md: plus 2 long-lived connections, and 3 during a snapshot.
    return (service.deploy.replicas ?? 1) * (databaseConnections + 5);
  });
  expect(max.reduce((sum, count) => sum + count, 0)).toBeLessThan(97);
});

test("every file, network, volume and secret exists", () => {
  for (const { secrets = [], networks = [], volumes = [] } of [compose, participant].flatMap((file) =>
    Object.values(file.services),
  )) {
    const both = { ...compose.secrets, ...participant.secrets };
    expect(secrets.filter((secret) => both[secret]?.file.startsWith("./secrets/") !== true)).toEqual([]);
    expect(networks.filter((network) => !(network in { ...compose.networks, ...participant.networks }))).toEqual([]);
    for (const [source = ""] of volumes.map((volume) => volume.split(":"))) {
      expect(source.startsWith("./") ? existsSync(join("deploy", source)) : source in compose.volumes).toBe(true);
    }
  }
  expect(readFileSync("deploy/.gitignore", "utf8").split("\n")).toContain("secrets/");
});

describe("with a participant", () => {
  const given = { OFFLEDGER_LEDGER_URL: "https://participant.example", OFFLEDGER_LEDGER_PARTIES: "operator::1220" };
  const parts = [ours["mirror"], participant.services["mirror"]];

  test("the mirror reads it, with a token from a file", () => {
    expect(configOf("mirror", environmentOf(parts, given))).toMatchObject({
      ledgerParties: ["operator::1220"],
      ledgerTokenFile: "/run/secrets/ledger_token",
    });
    expect(participant.services["mirror"]?.secrets).toEqual(["ledger_token"]);
  });

  test("the mirror has a network with a way out, without PostgreSQL", () => {
    expect(participant.services["mirror"]?.networks).toEqual(["ledger"]);
    expect(participant.networks).toEqual({ ledger: {} });
    expect(Object.keys(participant.services)).toEqual(["mirror"]);
  });

  test("the mirror requires the participant's URL", () => {
    expect(() => environmentOf(parts, {})).toThrow("OFFLEDGER_LEDGER_URL must be the base URL of the participant");
  });
});

const guide = readFileSync("docs/deploy.md", "utf8");

test("docs/deploy.md gives each secret the owner that reads it", () => {
  const owner = (secret: string) => new RegExp(`sudo chown (\\d+) deploy/secrets/${secret}\\b`).exec(guide)?.[1] ?? "";
  expect(`${owner("offledger_password")}:${owner("offledger_password")}`).toBe(image.last("USER"));
  expect(`${owner("database_password")}:${owner("database_password")}`).toBe(postgres.user);
  expect(guide).toContain("chmod 400 deploy/secrets/*_password\n");
  for (const { file } of Object.values(compose.secrets)) expect(guide).toContain(`> deploy/${file.slice(2)}\n`);
});

test("docs/deploy.md names the current version and existing settings", () => {
  expect(new Set(guide.match(/offledger:\d[\d.]*\d/g))).toEqual(new Set([`offledger:${version}`]));
  const named = guide.match(/\bOFFLEDGER_[A-Z_]+/g) ?? [];
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});
