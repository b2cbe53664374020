/** The registry learns the versions of packages: from the participant, and through a database. */
import { expect, onTestFinished, test } from "vitest";
import { followPackageVersions, type VersionSync } from "../../src/app/registry.js";
import type { PackageCatalog } from "../../src/domain/ledger.js";
import { storing, StoredPackages } from "../../src/store/postgres/packages.js";
import type { Logger } from "../../src/util/logger.js";
import { NotReady } from "../../src/store/port.js";
import { freshSchema } from "../fixtures/postgres-schema.js";
import { until } from "../fixtures/wait.js";

const catalogOf = (versions: Readonly<Record<string, string>>): PackageCatalog & { readonly asked: string[][] } => {
  const asked: string[][] = [];
  return {
    asked,
    versions(ids = []) {
      asked.push([...ids]);
      const known = [...ids].filter((id) => id in versions);
      return Promise.resolve(new Map(known.map((id) => [id, { name: "app", version: versions[id] ?? "" }])));
    },
  };
};

const silent: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** What the registry was told last. */
function follow(ids: () => Promise<readonly string[]>, catalog: PackageCatalog, log = silent) {
  const learnt: { versions?: ReadonlyMap<string, string> } = {};
  const registry = { learnPackages: (versions: ReadonlyMap<string, string>) => void (learnt.versions = versions) };
  const sync: VersionSync = followPackageVersions(registry, { catalog, ids }, log);
  onTestFinished(() => sync.close());
  return learnt;
}

test("it asks for the packages of the store, once there are contracts", async () => {
  const catalog = catalogOf({ "id-1": "0.7.0", "id-2": "0.9.1" });
  let reads = 0;
  const learnt = follow(
    () => (reads++ === 0 ? Promise.reject(new NotReady()) : Promise.resolve(["id-1", "id-3"])),
    catalog,
  );
  await until("the registry is told", () => learnt.versions !== undefined);
  expect([...(learnt.versions ?? [])]).toEqual([["id-1", "0.7.0"]]);
  expect(catalog.asked).toEqual([["id-1", "id-3"]]);
});

test("a participant that cannot be asked is logged once, and nothing fails", async () => {
  const warnings: string[] = [];
  const log = { ...silent, warn: (_details: object, message: string) => void warnings.push(message) };
  follow(() => Promise.resolve(["id-1"]), { versions: () => Promise.reject(new Error("status 503")) }, log);
  await until("it is logged", () => warnings.length > 0);
  expect(warnings).toHaveLength(1);
});

test("what a mirror has asked is in the database, for replicas", async () => {
  const schema = await freshSchema();
  onTestFinished(() => schema.drop());
  const participant = catalogOf({ "id-1": "0.7.0" });
  const stored = new StoredPackages(schema.database);
  await storing(participant, stored).versions(["id-1", "id-2"]);
  await storing(participant, stored).versions(["id-1"]);
  expect([...(await stored.versions(["id-1", "id-2"]))]).toEqual([["id-1", { name: "app", version: "0.7.0" }]]);
});
