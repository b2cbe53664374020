/** A project with the packed package installed, without a network. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { run } from "../fixtures/program.js";

const exec = promisify(execFile);
const repository = fileURLToPath(new URL("../../", import.meta.url));
const tsc = join(repository, "node_modules/typescript/bin/tsc");

export class Project {
  readonly folder: string;
  readonly packed: readonly string[];

  /** Packs the built package, and installs it with links to its dependencies. */
  static async create(): Promise<Project> {
    if (!existsSync(join(repository, "dist"))) await exec("npm", ["run", "-s", "build"], { cwd: repository });
    // Packing with scripts would write it.
    if (!existsSync(join(repository, "third_party")))
      await exec("npm", ["run", "-s", "proto:imports"], { cwd: repository });
    const folder = await mkdtemp(join(tmpdir(), "offledger-package-"));
    const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
    const { stdout } = await exec("npm", pack, { cwd: repository, maxBuffer: 16 * 1024 * 1024 });
    const [packed] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
    if (packed === undefined) throw new Error("npm pack returned no package");
    const installed = join(folder, "node_modules/offledger");
    await mkdir(installed, { recursive: true });
    await exec("tar", ["-xzf", join(folder, packed.filename), "-C", installed, "--strip-components=1"]);
    const { dependencies } = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    for (const name of Object.keys(dependencies)) {
      const link = join(folder, "node_modules", name);
      await mkdir(dirname(link), { recursive: true });
      await symlink(join(repository, "node_modules", name), link);
    }
    const project = new Project(
      folder,
      packed.files.map(({ path }) => path),
    );
    await project.write("package.json", JSON.stringify({ name: "example", private: true, type: "module" }));
    return project;
  }

  private constructor(folder: string, packed: readonly string[]) {
    this.folder = folder;
    this.packed = packed;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  get program(): string {
    return this.path("node_modules/offledger/dist/src/main.js");
  }

  async write(name: string, text: string): Promise<void> {
    await writeFile(this.path(name), text);
  }

  async link(name: string): Promise<void> {
    await mkdir(dirname(this.path(`node_modules/${name}`)), { recursive: true });
    await symlink(join(repository, "node_modules", name), this.path(`node_modules/${name}`));
  }

  /** Runs a file with Node.js, and parses its output as JSON. */
  async json(file: string, ...args: readonly string[]): Promise<unknown> {
    const { code, out, err } = await run(process.execPath, [file, ...args], { cwd: this.folder });
    if (code !== 0) throw new Error(`${file} ended with ${code}: ${out}${err}`);
    return JSON.parse(out);
  }

  /** Runs the TypeScript compiler; its messages are in `out`. */
  compile(...args: readonly string[]): ReturnType<typeof run> {
    return run(process.execPath, [tsc, ...args], { cwd: this.folder });
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true });
  }
}
