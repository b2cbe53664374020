import type { PackageCatalog, PackageVersion } from "../../domain/ledger.js";
import { contentHash } from "../lookup-hash.js";
import type { Database, Statement } from "./database.js";

/** Of content $1. A template id is `packageId:Module:Entity`: the next package comes after what begins with this and a colon. */
export const packageIdsStatement: Statement = {
  name: "package-ids",
  text: `
WITH RECURSIVE packages (generation, template_id) AS (
  SELECT s.generation, (
    SELECT c.template_id COLLATE "C" FROM offledger.log_contracts c WHERE c.generation = s.generation
    ORDER BY c.generation, c.template_id COLLATE "C" LIMIT 1
  )
  FROM offledger.state s WHERE s.content_hash = $1::uuid
  UNION ALL
  SELECT p.generation, (
    SELECT c.template_id COLLATE "C" FROM offledger.log_contracts c
    WHERE c.generation = p.generation AND c.template_id COLLATE "C" > split_part(p.template_id, ':', 1) || ';'
    ORDER BY c.generation, c.template_id COLLATE "C" LIMIT 1
  )
  FROM packages p WHERE p.template_id IS NOT NULL
)
SELECT split_part(template_id, ':', 1) AS package_id FROM packages WHERE template_id IS NOT NULL`,
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

/** The packages that a mirror has stored, for followers. Throws DatabaseError. */
export class StoredPackages implements PackageCatalog {
  constructor(
    private readonly database: Database,
    private readonly contentId: string,
  ) {}

  /** The packages of the contracts that are stored, each once. */
  async ids(): Promise<readonly string[]> {
    const rows = await this.database.read<Pick<Row, "package_id">>(packageIdsStatement, [contentHash(this.contentId)]);
    return rows.map(({ package_id }) => package_id);
  }

  async versions(ids: Iterable<string> = []): Promise<ReadonlyMap<string, PackageVersion>> {
    const rows = await this.database.read<Row>(read, [[...ids]]);
    return new Map(rows.map(({ package_id, name, version }) => [package_id, { name, version }]));
  }

  /** A package id stands for one content: what is stored never changes. */
  async save(versions: ReadonlyMap<string, PackageVersion>): Promise<void> {
    const ids = [...versions.keys()];
    const packages = [...versions.values()];
    if (ids.length === 0) return;
    await this.database.query(write, [ids, packages.map(({ name }) => name), packages.map(({ version }) => version)]);
  }
}

/** The packages of a participant, which are stored for the followers of its database. */
export const storing = (catalog: PackageCatalog, stored: StoredPackages): PackageCatalog => ({
  async versions(ids) {
    const versions = await catalog.versions(ids);
    if (versions !== undefined) await stored.save(versions);
    return versions;
  },
});
