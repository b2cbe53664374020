/** A role of its own on a migrated database, with a password in a file that may change, and a limit of connections. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { onTestFinished } from "vitest";

const GRANTS = ["USAGE ON SCHEMA offledger", "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA offledger"];

export class Role {
  /** Without a password. */
  readonly url: string;
  readonly passwordFile: string;
  readonly #name: string;
  readonly #owner: Client;
  #rotations = 0;
  #password = "";

  private constructor(databaseUrl: string, folder: string, suffix: string) {
    const url = new URL(databaseUrl);
    this.#name = `role_${suffix}_${url.pathname.slice(1)}`;
    [url.username, url.password] = [this.#name, ""];
    this.url = url.href;
    this.passwordFile = join(folder, "password");
    // What is open is ended when the database is dropped.
    this.#owner = new Client({ connectionString: databaseUrl }).on("error", () => undefined);
  }

  /** It is dropped with the test. */
  static async create(databaseUrl: string, suffix = "a"): Promise<Role> {
    const folder = await mkdtemp(join(tmpdir(), "offledger-password-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const role = new Role(databaseUrl, folder, suffix);
    await role.#owner.connect();
    onTestFinished(() => role.#drop());
    await role.#sql(`CREATE ROLE ${role.#name} LOGIN`);
    await role.rotate();
    for (const grant of GRANTS) await role.#sql(`GRANT ${grant} TO ${role.#name}`);
    return role;
  }

  /** Another password, as docs/postgres.md says: the file, then the server. Open connections stay, new ones fail in between. */
  async rotate(between?: () => Promise<void>): Promise<void> {
    this.#password = `password ${++this.#rotations}`;
    await writeFile(this.passwordFile, `${this.#password}\n`);
    await between?.();
    await this.#sql(`ALTER ROLE ${this.#name} PASSWORD '${this.#password}'`);
  }

  /** The URL with the present password. */
  get login(): string {
    return Object.assign(new URL(this.url), { password: this.#password }).href;
  }

  /** -1 for no limit. */
  async limitConnections(count: number): Promise<void> {
    await this.#sql(`ALTER ROLE ${this.#name} CONNECTION LIMIT ${count}`);
  }

  /** Ends connections whose last statement contains some text. Returns how many. */
  async terminate(statement = "", limit = 1_000): Promise<number> {
    const values = [this.#name, `%${statement}%`, limit];
    const { rowCount } = await this.#owner.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1 AND query LIKE $2 LIMIT $3",
      values,
    );
    return rowCount ?? 0;
  }

  async #sql(text: string): Promise<void> {
    await this.#owner.query(text);
  }

  async #drop(): Promise<void> {
    await this.terminate();
    await this.#sql(`DROP OWNED BY ${this.#name}`);
    await this.#sql(`DROP ROLE ${this.#name}`);
    await this.#owner.end();
  }
}
