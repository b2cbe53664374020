/**
 * What the official wallet makes of `supportedApis` since October 2026: it reads the map of an instrument, and takes a
 * capability from a key whose value is exactly 1, of version 2 where both are listed.
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { JsonObject } from "../../src/util/json.js";
import { elementOf, type ShortContract } from "../../src/testing/answer.js";
import { read } from "../fidelity/recordings.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { temporaryFile } from "../fixtures/files.js";
import { registryOf } from "../fixtures/in-memory.js";
import { formatModule, moduleFields } from "../fixtures/own-registry.js";
import { serving } from "../fixtures/registries.js";
import { registry as pathTo, type Running } from "../fixtures/run-service.js";

const NAMES = ["holding", "transfer-instruction", "allocation", "allocation-instruction", "allocation-request"];

/** The version of each capability; undefined for one that the token does not have. */
const capabilitiesIn = (apis: unknown): readonly (string | undefined)[] =>
  NAMES.map((name) =>
    ["v2", "v1"].find((version) => (apis as JsonObject)[`splice-api-token-${name}-${version}`] === 1),
  );

const all = (version: string): string[] => NAMES.map(() => version);

interface Supporting {
  readonly id: string;
  readonly supportedApis: JsonObject;
}

/** Of the registrar and of each instrument, in the list and alone. */
async function capabilities(running: Running, registrar: string): Promise<readonly unknown[]> {
  const get = async <T>(path: string) => (await running.get(`${pathTo(registrar)}/metadata/v1/${path}`)).body as T;
  const { instruments } = await get<{ readonly instruments: readonly Supporting[] }>("instruments");
  expect(instruments.length).toBeGreaterThan(0);
  const paths = [...instruments.map(({ id }) => `instruments/${id}`), "info"];
  const found = [...instruments, ...(await Promise.all(paths.map((path) => get<Supporting>(path))))];
  return found.map(({ supportedApis }) => capabilitiesIn(supportedApis));
}

const expectAll = async (running: Running, registrar: string, version: string): Promise<void> => {
  for (const one of await capabilities(running, registrar)) expect(one).toEqual(all(version));
};

/** The elements of the contracts that the tests of a registry file have. */
function elementsOf(name: string): { readonly registrar: string; readonly elements: JsonObject[] } {
  const tests = parse(readFileSync(`registries/${name.replace(".yaml", ".test.yaml")}`, "utf8"), { merge: true }) as {
    readonly registrar: string;
    readonly contracts: readonly ShortContract[];
  };
  const registry = registryOf(name);
  return {
    registrar: tests.registrar,
    elements: tests.contracts.map((one, index) => elementOf(one, index, registry)),
  };
}

describe("a wallet finds all five capabilities", () => {
  const files = readdirSync("registries").filter((name) => !name.endsWith(".test.yaml") && name !== "standard.yaml");
  test.each(files)("of registries/%s, of the newest version that it names", async (name) => {
    const { registrar, elements } = elementsOf(name);
    const running = await serving(elements, {
      now: "2026-01-01T02:00:00Z",
      config: { registry: `registries/${name}` },
    });
    const version = "splice-api-token-holding-v2" in registryOf(name).supportedApis ? "v2" : "v1";
    await expectAll(running, registrar, version);
  });

  const { testTokenV2, utility: recorded } = read("interface-views-3.5.json") as Record<
    "testTokenV2" | "utility",
    { readonly admin: string; readonly active: JsonObject[] }
  >;
  const standard = { registry: "standard", registrars: [] as string[] };

  test("of a token that is known by its interfaces", async () => {
    await expectAll(await serving(testTokenV2.active, { config: standard }), testTokenV2.admin, "v2");
  });

  test("of a registrar that we do not read as, where it is configured", async () => {
    const text = JSON.stringify(recorded.active);
    const [, registrar = ""] = /"registrar":"([^"]+)"/.exec(text) ?? [];
    const config = { ...standard, registrars: [registrar] };
    const running = await serving(recorded.active, { config });
    const path = `/api/token-standard/v0/registrars/${encodeURIComponent(registrar)}/registry/metadata/v1/info`;
    expect((await running.get(path)).body).toMatchObject({
      supportedApis: { "splice-api-token-transfer-instruction-v1": 1 },
    });
    const others = await serving(recorded.active, { config: standard });
    expect((await others.get(path)).status).toBe(404);
  });

  const utility = (packageId: string) => [
    element("AllocationFactory", "factory", payload.service(), { packageId }),
    element("InstrumentConfiguration", "usd", payload.configuration("USD"), { packageId }),
  ];
  test.each([
    ["0.10.0", "v2"],
    ["0.9.0", "v2"],
    ["0.8.9", "v1"],
    [undefined, "v1"],
  ])("of the Registry Utility whose factory is of version %s", async (version, expected) => {
    const contexts = { packages: version === undefined ? {} : { app: version } };
    await expectAll(await serving(utility("app"), { contexts }), parties.registrar, expected);
  });

  test("of version 1, where the operator hides version 2 of a registrar", async () => {
    const hidden = `${parties.registrar}: { "*": { hideVersion2: true }, USD: { name: Dollar } }\nother::1220: {}\n`;
    const instruments = await temporaryFile("instruments.yaml", hidden);
    const other = utility("app").map(
      (one): JsonObject =>
        JSON.parse(
          JSON.stringify(one)
            .replaceAll(parties.registrar, "other::1220")
            .replaceAll(/"contractId":"(\w+)"/g, '"contractId":"$1-2"'),
        ) as JsonObject,
    );
    const options = { contexts: { packages: { app: "0.9.0" } }, config: { instruments } };
    const running = await serving([...utility("app"), ...other], options);
    await expectAll(running, parties.registrar, "v1");
    await expectAll(running, "other::1220", "v2");
    const { body } = await running.get(`${pathTo(parties.registrar)}/metadata/v1/instruments`);
    expect(body).toMatchObject({ instruments: [{ id: "USD", name: "Dollar" }] });
  });

  test("of version 1, where the operator hides version 2 of a registry file whose instruments the same file has", async () => {
    const instruments = await temporaryFile(
      "instruments.yaml",
      '"admin::1": { GOLD: {}, "*": { hideVersion2: true } }',
    );
    const text = readFileSync("registries/minimal.yaml", "utf8").replace(/^instruments:.*$/m, "instruments: file");
    const config = { registry: await temporaryFile("registry.yaml", text), instruments };
    const rules = element("AllocationFactory", "rules", { admin: "admin::1" }, { packageName: "minimal-token-v1" });
    const named = JSON.parse(
      JSON.stringify(rules).replace(/Utility[\w.]*:AllocationFactory/, "Minimal.Token:Rules"),
    ) as JsonObject;
    const running = await serving([named], { config });
    await expectAll(running, "admin::1", "v1");
    const { body } = await running.get(`${pathTo("admin::1")}/metadata/v1/instruments`);
    expect(body).toMatchObject({ instruments: [{ id: "GOLD" }] });
  });
});

test("a module that lists what it serves also lists the packages without an HTTP side", async () => {
  const served = { "splice-api-token-metadata-v1": 2, "splice-api-token-transfer-instruction-v2": 1 };
  const module = await temporaryFile(
    "registry.mjs",
    formatModule({
      ...moduleFields,
      supportedApis: JSON.stringify(served),
      instruments: '() => [{ id: "LEAF", otherIds: [] }]',
    }),
  );
  const running = await serving([], { config: { registry: module } });
  const { body } = await running.get(`${pathTo("admin::1")}/metadata/v1/info`);
  expect((body as JsonObject)["supportedApis"]).toEqual({
    ...served,
    "splice-api-token-holding-v2": 1,
    "splice-api-token-allocation-request-v2": 1,
    "splice-api-token-transfer-events-v2": 1,
  });
});
