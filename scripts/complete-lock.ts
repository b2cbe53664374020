/**
 * Adds optional packages of other platforms to package-lock.json that npm left
 * out because its registry does not have them. Without these entries `npm ci`
 * rejects the lock file on every platform. The platform follows from the name
 * of a package. Run it after every `npm install` (npm run lock does both).
 */
import { readFileSync, writeFileSync } from "node:fs";

interface Package {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const systems = new Set(["android", "darwin", "freebsd", "linux", "openharmony", "win32"]);
/** Processors as package names have them -> as npm has them. */
const processors: Readonly<Record<string, string>> = {
  aarch64: "arm64",
  arm: "arm",
  arm64: "arm64",
  armv7: "arm",
  ia32: "ia32",
  ppc64: "ppc64",
  riscv64: "riscv64",
  s390x: "s390x",
  x64: "x64",
};

const path = "package-lock.json";
const lock = JSON.parse(readFileSync(path, "utf8")) as { packages: Record<string, Package> };
for (const [parent, { dev, optionalDependencies = {} }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const paths = [`node_modules/${name}`, `${parent}/node_modules/${name}`];
    if (paths.some((known) => known in lock.packages)) continue;
    lock.packages[`node_modules/${name}`] = {
      version,
      ...parsePlatform(name),
      ...(dev === true && { dev }),
      optional: true,
    };
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);

/** The platform in a name such as `@oxlint/binding-linux-arm64-musl`. */
function parsePlatform(name: string): object {
  const words = name.split(/[/-]/);
  const os = words.find((word) => systems.has(word));
  const cpu = words.map((word) => processors[word]).find((known) => known !== undefined);
  if (os === undefined || cpu === undefined) throw new Error(`${name}: the name contains no known platform`);
  const libc = words.some((word) => word.startsWith("musl"))
    ? { libc: ["musl"] }
    : words.some((word) => word.startsWith("gnu"))
      ? { libc: ["glibc"] }
      : {};
  return { os: [os], cpu: [cpu], ...libc };
}
