/** Dependencies are pinned, their licences are listed and allowed; CONTRIBUTING.md is short. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const read = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
}

const own = read("package.json") as Manifest;
const { lockfileVersion, packages } = read("package-lock.json") as {
  lockfileVersion: number;
  packages: Record<string, Locked>;
};
/** The packages that npm installs; the others are the workspaces of this repository and the links to them. */
const locked = Object.entries(packages).filter(([path, { link }]) => path.startsWith("node_modules/") && !link);

test("SECURITY.md names every file that pins what others publish", () => {
  const [, pinned = ""] = readFileSync("SECURITY.md", "utf8").split("## What is pinned");
  const files = execFileSync("git", ["ls-files"], { encoding: "utf8" }).split("\n");
  const pins =
    /(?:^|\/)(?:package-lock\.json|Cargo\.lock|go\.sum|pom\.xml|requirements\.txt|Dockerfile|compose\.yaml)$/;
  const found = files.filter((path) => pins.test(path));
  expect(found).toContain("deploy/Dockerfile");
  const isNamed = (path: string) => pinned.includes(`\`${path.replace(/^clients\/.*\/(?=req)/, "")}\``);
  expect(found.filter((path) => !isNamed(path))).toEqual([]);
});

describe("package-lock.json", () => {
  test("has the exact versions of package.json", () => {
    expect(lockfileVersion).toBe(3);
    const required = Object.entries({ ...own.dependencies, ...own.devDependencies });
    expect(required.filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([]);
    expect(required.filter(([name, version]) => packages[`node_modules/${name}`]?.version !== version)).toEqual([]);
  });

  test("has a hash of every package except tools of other platforms, which complete-lock.ts adds", () => {
    const unhashed = locked.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ""));
    const wrong = unhashed.filter(([, { dev, optional, os, cpu }]) => !dev || !optional || !os || !cpu);
    expect(wrong).toEqual([]);
    // On the platforms of image and tests every package has one.
    const onLinux = unhashed.filter(
      ([, { os, cpu, libc }]) =>
        os?.includes("linux") && (cpu?.includes("x64") || cpu?.includes("arm64")) && !libc?.includes("musl"),
    );
    expect(onLinux).toEqual([]);
  });

  test("names no registry: hashes identify packages", () => {
    expect(locked.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });

  test("has nothing else but the workspaces and links to them", () => {
    const others = Object.keys(packages).filter((path) => !locked.some(([other]) => other === path));
    expect(others).toEqual([
      "",
      "node_modules/@offledger/client",
      "node_modules/offledger-conformance",
      "node_modules/offledger-localnet",
      "packages/client",
      "packages/conformance",
      "packages/localnet",
    ]);
    expect(packages["node_modules/@offledger/client"]).toEqual({ resolved: "packages/client", link: true });
    for (const name of ["conformance", "localnet"])
      expect(packages[`node_modules/offledger-${name}`]).toEqual({ resolved: `packages/${name}`, link: true });
  });
});

describe("docs/licenses.md", () => {
  const rows = readFileSync("docs/licenses.md", "utf8").matchAll(/^\| (\S+) \| (\d\S+) \| (.+) \|$/gm);
  const listed = [...rows].map(([, name = "", version = "", license = ""]) => ({ name, version, license }));

  test("lists the installed packages: npm run licenses writes it", () => {
    const paths = execFileSync("npm", ["ls", "--omit=dev", "--all", "--parseable"], { encoding: "utf8" });
    const workspaces = Object.keys(packages).filter((path) => packages[path]?.link === true);
    const folders = paths
      .split("\n")
      .filter((path) => path.includes("node_modules") && !workspaces.some((one) => path.endsWith(one)));
    expect(folders.length).toBeGreaterThan(20);
    const installed = folders.map((folder) => {
      const { name, version, license = "none" } = read(join(folder, "package.json")) as Manifest;
      return `${name} ${version} ${license.replaceAll(/[()]/g, "")}`;
    });
    const documented = listed.map(({ name, version, license }) => `${name} ${version} ${license}`);
    expect(documented).toEqual([...new Set(installed)].toSorted());
  });

  test("has only licences that require no more than a notice", () => {
    const allowed = new Set(["0BSD", "Apache-2.0", "BlueOak-1.0.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"]);
    expect(listed.length).toBeGreaterThan(20);
    const others = listed.filter(({ license }) => license.split(" AND ").some((part) => !allowed.has(part)));
    expect(others).toEqual([]);
  });
});

test("CONTRIBUTING.md is short, and names existing scripts and files", () => {
  const text = readFileSync("CONTRIBUTING.md", "utf8");
  expect(text.match(/\S+/g)?.length).toBeLessThanOrEqual(900);
  const named = [...text.matchAll(/npm run (\w+)/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter((name) => !(name in own.scripts))).toEqual([]);
  const files = [...text.matchAll(/`((?:deploy|docs|src|test)\/[\w./-]+)`/g)].map(([, name = ""]) => name);
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((name) => !existsSync(name))).toEqual([]);
});
