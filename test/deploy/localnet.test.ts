/** deploy/localnet: valid compose files, whose variables and services are those of Quickstart and of a Splice bundle, and ours. */
import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readToken } from "../../packages/localnet/src/token.js";
import { readConfig } from "../../src/config/config.js";
import { environmentOf, fileNames, interpolated, servicesOf, variablesIn, type Variables } from "./localnet.js";

// As the Compose Specification publishes it (schema/compose-spec.json of 2025-10-21), but for the name of its dialect.
const { $schema: _dialect, ...schema } = JSON.parse(
  brotliDecompressSync(readFileSync("test/deploy/compose-spec.json.br")).toString(),
) as Record<string, unknown>;
const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);

test.each([...fileNames.map((name) => `localnet/${name}`), "compose.yaml", "compose.participant.yaml"])(
  "%s is a compose file by the published schema",
  (name) => {
    validate(parse(readFileSync(`deploy/${name}`, "utf8"), { merge: true }));
    expect(validate.errors).toBeNull();
  },
);

/** Of Quickstart's .env files and of the bundle's compose.env and common.env. */
const THEIRS = new Set([
  "APP_PROVIDER_AUTH_ENV",
  "APP_USER_AUTH_ENV",
  "AUTH_APP_PROVIDER_TOKEN_URL",
  "AUTH_APP_USER_TOKEN_URL",
  "AUTH_APP_PROVIDER_ISSUER_URL_INTERNAL",
  "DB_USER",
  "DB_PASSWORD",
]);
const THEIR_SERVICES = ["postgres", "splice", "splice-onboarding"];
/** Of a LocalNet and Quickstart. */
const TAKEN = [2000, 3000, 4000, 8080, 8082, 9090, 5432, 2901, 2902, 2903, 2975, 3901, 3902, 3903, 3975, 4901, 4975];

const given: Variables = { OFFLEDGER_LOCALNET_DIR: "/token", DB_USER: "cnadmin", DB_PASSWORD: "supersafe" };
const oauth2: Variables = {
  ...given,
  AUTH_APP_PROVIDER_ISSUER_URL_INTERNAL: "http://nginx-keycloak:8082/realms/AppProvider",
  AUTH_APP_PROVIDER_TOKEN_URL: "http://nginx-keycloak:8082/realms/AppProvider/protocol/openid-connect/token",
  AUTH_APP_USER_TOKEN_URL: "http://nginx-keycloak:8082/realms/AppUser/protocol/openid-connect/token",
};

describe.each(fileNames)("%s", (name) => {
  const services = servicesOf(name);

  test("has variables of theirs, or of ours", () => {
    const ours = /^OFFLEDGER_(?:LOCALNET_\w+|IMAGE)$/;
    expect(variablesIn(name).filter((variable) => !THEIRS.has(variable) && !ours.test(variable))).toEqual([]);
  });

  test("waits for services that are there, and publishes free ports to this machine alone", () => {
    const known = new Set([...Object.keys(servicesOf("splice.yaml")), ...Object.keys(services), ...THEIR_SERVICES]);
    for (const { depends_on: needed = {}, ports = [] } of Object.values(services)) {
      expect(Object.keys(needed).filter((one) => !known.has(one))).toEqual([]);
      for (const port of ports) {
        const [, published] = /^127\.0\.0\.1:(\d+):\d+$/.exec(interpolated(port, given)) ?? [];
        expect(TAKEN).not.toContain(Number(published ?? "2000"));
      }
    }
  });
});

test("nothing of ours starts without its profile", () => {
  const services = Object.entries(servicesOf(...fileNames));
  expect(services.filter(([, { profiles }]) => profiles?.join() !== "offledger").map(([name]) => name)).toEqual([
    "postgres",
  ]);
});

test.each([
  [["splice.yaml"], given, { ledgerTokenFile: "/offledger/token" }],
  [["splice.yaml", "quickstart.yaml"], given, { ledgerTokenFile: "/offledger/token" }],
  [
    ["splice.yaml", "quickstart.yaml", "quickstart-oauth2.yaml"],
    oauth2,
    { oidcClientId: "app-provider-validator", oidcClientSecretFile: "/offledger/client-secret" },
  ],
] as const)("the service of %j has valid settings", (names, variables, credentials) => {
  const { offledger } = servicesOf(...names);
  const read = readConfig(["serve"], environmentOf(offledger ?? {}, variables));
  expect(read.ok ? [] : read.errors).toEqual([]);
  expect(read.ok && read.config).toMatchObject({
    registry: "test-token-v2",
    ledgerParties: "user",
    rootRegistrar: "user",
    wait: true,
    ...credentials,
  });
});

test("with PostgreSQL the service and its migration use one database, which the LocalNet creates", () => {
  const { postgres, offledger, "offledger-migrate": migration } = servicesOf("postgres.yaml");
  const [own, before] = [offledger, migration].map((service) => environmentOf(service ?? {}, given));
  expect(own).toEqual(before);
  expect(own?.["OFFLEDGER_DATABASE_URL"]).toBe("postgres://cnadmin@postgres:5432/offledger");
  expect(postgres?.environment).toEqual({ CREATE_DATABASE_offledger: "offledger" });
  const { PGPASSWORD: _password, ...settings } = {
    ...environmentOf(servicesOf("splice.yaml")["offledger"] ?? {}, given),
    ...own,
  };
  expect(readConfig(["serve"], settings)).toMatchObject({ ok: true });
});

test("the example of a token is one", async () => {
  expect(await readToken("deploy/localnet/token.yaml")).toMatchObject({ token: "test-token-v2" });
});
