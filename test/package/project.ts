/** A project with a packed package of this repository installed, without a network. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Ended, run } from "../fixtures/program.js";
import { createCheckout, repository } from "./checkout.js";

const exec = promisify(execFile);
const tsc = join(repository, "node_modules/typescript/bin/tsc");

interface Manifest {
  readonly version: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

const WITHOUT_SCRIPTS = ["--ignore-scripts"];

async function prepareServer(): Promise<void> {
  if (!existsSync(join(repository, "dist"))) await exec("npm", ["run", "-s", "build"], { cwd: repository });
  // Packing with scripts would write it.
  if (!existsSync(join(repository, "third_party")))
    await exec("npm", ["run", "-s", "proto:imports"], { cwd: repository });
}

async function packInto(folder: string, source: string, options: readonly string[]): Promise<Packed> {
  const pack = ["pack", ...options, "--json", "--foreground-scripts=false", "--pack-destination", folder];
  const { stdout } = await exec("npm", pack, { cwd: source, maxBuffer: 16 * 1024 * 1024, timeout: 300_000 });
  const [packed] = JSON.parse(stdout) as Packed[];
  if (packed === undefined) throw new Error("npm pack returned no package");
  return packed;
}

/** Packs the built server into a folder. */
export async function packServer(folder: string): Promise<void> {
  await prepareServer();
  await packInto(folder, repository, WITHOUT_SCRIPTS);
}

export class Project {
  readonly folder: string;
  readonly packed: readonly string[];

  /** With the built server. */
  static async withServer(): Promise<Project> {
    await prepareServer();
    return Project.#create("offledger", repository, WITHOUT_SCRIPTS);
  }

  /** With the client, which is generated and built for it. */
  static async withClient(): Promise<Project> {
    const checkout = await createCheckout();
    try {
      return await Project.#create("@offledger/client", checkout.folder, ["--workspace", "@offledger/client"]);
    } finally {
      await checkout.remove();
    }
  }

  /** Packs a package, and installs it with links to what it depends on. */
  static async #create(name: string, source: string, options: readonly string[]): Promise<Project> {
    const folder = await mkdtemp(join(tmpdir(), "offledger-package-"));
    const packed = await packInto(folder, source, options);
    const installed = join(folder, "node_modules", name);
    await mkdir(installed, { recursive: true });
    await exec("tar", ["-xzf", join(folder, packed.filename), "-C", installed, "--strip-components=1"]);
    const project = new Project(
      folder,
      packed.files.map(({ path }) => path),
    );
    const { dependencies, peerDependencies } = await project.manifest(name);
    for (const required of Object.keys({ ...dependencies, ...peerDependencies })) await project.link(required);
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

  /** The package.json of an installed package. */
  async manifest(name: string): Promise<Manifest> {
    return JSON.parse(await readFile(this.path(`node_modules/${name}/package.json`), "utf8")) as Manifest;
  }

  async write(name: string, text: string): Promise<void> {
    await writeFile(this.path(name), text);
  }

  async link(name: string): Promise<void> {
    await mkdir(dirname(this.path(`node_modules/${name}`)), { recursive: true });
    await symlink(join(repository, "node_modules", name), this.path(`node_modules/${name}`));
  }

  /** Runs a file with Node.js in the folder. */
  run(file: string, ...args: readonly string[]): Promise<Ended> {
    return run(process.execPath, [file, ...args], { cwd: this.folder });
  }

  /** Runs a file with Node.js, and parses its output as JSON. */
  async json(file: string, ...args: readonly string[]): Promise<unknown> {
    const { code, out, err } = await this.run(file, ...args);
    if (code !== 0) throw new Error(`${file} ended with ${code}: ${out}${err}`);
    return JSON.parse(out);
  }

  /** Runs the TypeScript compiler; its messages are in `out`. */
  compile(...args: readonly string[]): Promise<Ended> {
    return this.run(tsc, ...args);
  }

  /** The messages of the compiler for each of several modules, which it compiles at once. */
  async errorsOf(modules: readonly string[], ...options: readonly string[]): Promise<string[]> {
    const names = modules.map((_text, index) => `wrong-${index}.ts`);
    for (const [index, text] of modules.entries()) await this.write(`wrong-${index}.ts`, text);
    const { out } = await this.compile("--noEmit", ...options, ...names);
    // A message may go on in indented lines.
    const messages = out.split(/\n(?=\S)/);
    return names.map((name) => messages.filter((message) => message.startsWith(`${name}(`)).join("\n"));
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true });
  }
}
