import type { PackageCatalog, PackageVersion } from "../../domain/ledger.js";
import type { Database } from "./database.js";

const storedIds = {
  name: "stored_package_ids",
  text: "SELECT DISTINCT package_id FROM offledger.template_counts WHERE count > 0",
};
const read = {
  name: "read_packages",
  text: "SELECT package_id, name, version FROM offledger.packages WHERE package_id = ANY($1)",
};
const write = {
  name: "write_packages",
  text:
    "INSERT INTO offledger.packages (package_id, name, version) SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) " +
    "ON CONFLICT (package_id) DO NOTHING",
};

interface Row extends PackageVersion {
  readonly package_id: string;
}

/** The packages that a mirror has stored, for replicas. Throws DatabaseError. */
export class StoredPackages implements PackageCatalog {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The packages of the contracts that are stored, in any generation. */
  async ids(): Promise<readonly string[]> {
    const rows = await this.#database.read<Pick<Row, "package_id">>(storedIds);
    return rows.map(({ package_id }) => package_id);
  }

  async versions(ids: Iterable<string> = []): Promise<ReadonlyMap<string, PackageVersion>> {
    const rows = await this.#database.read<Row>(read, [[...ids]]);
    return new Map(rows.map(({ package_id, name, version }) => [package_id, { name, version }]));
  }

  /** A package id stands for one content: what is stored never changes. */
  async save(versions: ReadonlyMap<string, PackageVersion>): Promise<void> {
    const ids = [...versions.keys()];
    const packages = [...versions.values()];
    if (ids.length === 0) return;
    await this.#database.query(write, [ids, packages.map(({ name }) => name), packages.map(({ version }) => version)]);
  }
}

/** The packages of a participant, which are stored for the replicas of its database. */
export const storing = (catalog: PackageCatalog, stored: StoredPackages): PackageCatalog => ({
  async versions(ids) {
    const versions = await catalog.versions(ids);
    if (versions !== undefined) await stored.save(versions);
    return versions;
  },
});
