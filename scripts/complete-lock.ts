/**
 * Adds to package-lock.json the packages of other platforms that npm left out
 * because the registry at hand does not carry them: without their entries
 * `npm ci` refuses the lock file everywhere. Their names tell the platform; a
 * machine that needs one downloads it, every other skips it. Run behind every
 * `npm install` (npm run lock does both).
 */
import { readFileSync, writeFileSync } from "node:fs";

interface Package {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const systems = new Set(["android", "darwin", "freebsd", "linux", "openharmony", "win32"]);
/** How names call a processor, and what npm calls it. */
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
    const places = [`node_modules/${name}`, `${parent}/node_modules/${name}`];
    if (places.some((place) => place in lock.packages)) continue;
    lock.packages[`node_modules/${name}`] = {
      version,
      ...platformOf(name),
      ...(dev === true && { dev }),
      optional: true,
    };
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);

/** The platform that a package such as `@oxlint/binding-linux-arm64-musl` is for. */
function platformOf(name: string): object {
  const words = name.split(/[/-]/);
  const os = words.find((word) => systems.has(word));
  const cpu = words.map((word) => processors[word]).find((known) => known !== undefined);
  if (os === undefined || cpu === undefined) throw new Error(`${name}: its name tells no platform`);
  const libc = words.some((word) => word.startsWith("musl"))
    ? { libc: ["musl"] }
    : words.some((word) => word.startsWith("gnu"))
      ? { libc: ["glibc"] }
      : {};
  return { os: [os], cpu: [cpu], ...libc };
}
