/** The directions of imports between the modules of src. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

/** The modules that each module may import, besides itself. The longest matching path applies. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  domain: ["util"],
  util: [],
  config: ["util"],
  "state/port": ["domain", "state/lookup-hash"],
  // The names of lookups, which answers and streams have.
  "state/lookup-hash": ["domain"],
  state: ["domain", "state/lookup-hash", "state/port", "util"],
  registry: ["domain", "state/lookup-hash", "state/port", "util"],
  ledger: ["domain", "util"],
  ingest: ["domain", "ledger", "state", "state/lookup-hash", "state/port", "util"],
  service: ["domain", "gen", "registry", "state/lookup-hash", "state/port", "util"],
  telemetry: ["config", "domain", "ingest", "service", "state/port", "util"],
  transport: ["domain", "gen", "service", "telemetry", "util"],
  auth: ["config", "service", "transport", "util"],
  app: [
    "auth",
    "config",
    "domain",
    "ingest",
    "ledger",
    "registry",
    "service",
    "state",
    "state/port",
    "telemetry",
    "transport",
    "util",
  ],
  testing: ["config", "domain", "gen", "ledger", "registry", "service", "state", "state/port", "transport", "util"],
  cli: ["app", "config", "domain", "gen", "ingest", "ledger", "registry", "state", "testing", "util"],
  // A command is a program of its own, which the package takes in.
  main: ["cli", "config", "packages", "util"],
};

interface Import {
  readonly file: string;
  readonly target: string;
}

const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
const imports = files.flatMap((file) => importsOf(file));

function importsOf(file: string): Import[] {
  const text = readFileSync(join("src", file), "utf8");
  const specifiers = [...text.matchAll(/^(?:import|export)[^;"]*?"([^"]+)";|import\("([^"]+)"\)/gm)];
  return specifiers
    .map((match) => match[1] ?? match[2] ?? "")
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => ({ file, target: normalize(join("src", dirname(file), specifier)).replace(/\.js$/, "") }));
}

/** Returns the module of a path below src, or "gen". */
function moduleOf(path: string): string {
  if (path.startsWith("gen/")) return "gen";
  const file = path.replace(/^src\//, "").replace(/\.ts$/, "");
  return file in allowed ? file : (file.split("/")[0] ?? file);
}

test("every file of src belongs to a module with a rule", () => {
  expect(files.length).toBeGreaterThan(30);
  expect([...new Set(files.map(moduleOf))].filter((module) => !(module in allowed))).toEqual([]);
});

test("modules import only what their rule allows", () => {
  const violations = imports.filter(({ file, target }) => {
    const from = moduleOf(file);
    const to = moduleOf(target);
    return from !== to && !allowed[from]?.includes(to);
  });
  expect(violations).toEqual([]);
  expect(imports.length).toBeGreaterThan(100);
});

test("only config reads the environment", () => {
  const readers = files.filter((file) => readFileSync(join("src", file), "utf8").includes("process.env"));
  expect(readers.toSorted()).toEqual(["config/config.ts", "config/limits.ts"]);
});

test("domain, registry and state/port import no packages but the one of schemas", () => {
  const packages = files
    .filter((file) => ["domain/", "registry/", "state/port"].some((module) => file.startsWith(module)))
    .flatMap((file) =>
      [...readFileSync(join("src", file), "utf8").matchAll(/^(?:import|\}).* from "([^."][^"]*)"/gm)].map(
        (match) => match[1],
      ),
    );
  expect(packages.filter((name) => name !== "zod")).toEqual([]);
});

// The linter refuses a URL in a template; displayUrl shows one without what may be secret.
test("a whole URL is for libraries and for other URLs, not for messages", () => {
  const users = files.filter((file) => /\bhref\b/.test(readFileSync(join("src", file), "utf8")));
  expect(users.toSorted()).toEqual([
    // The URL of a module's file.
    "app/registry.ts",
    // The base of the URL where the issuer publishes its configuration.
    "ledger/participant/tokens.ts",
    // The library that reads the proxy of the environment takes a text.
    "util/outgoing.ts",
  ]);
});
