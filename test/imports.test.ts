/** Data flows one way: which folder of src may import which. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

/** Each room with the rooms it may import from, itself aside. "store/store" is that one file. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  "store/store": [],
  config: [],
  client: ["gen"],
  store: ["store/store", "generations"],
  registry: ["store/store"],
  ledger: ["store/store", "generations"],
  service: ["registry", "gen"],
  telemetry: ["config", "ledger", "source", "store/store"],
  access: ["config", "service", "wire"],
  wire: ["telemetry", "service", "registry/derived", "registry/errors", "registry/registry", "gen"],
  standard: ["gen", "wire"],
  describe: ["ledger", "registry", "store/store"],
  registries: ["config", "registry"],
  source: ["config", "ledger", "registry", "store", "store/store"],
  "server-options": ["config", "wire"],
  app: [
    "access",
    "contents",
    "ends",
    "config",
    "ledger",
    "registries",
    "registry",
    "server-options",
    "service",
    "source",
    "standard",
    "store",
    "store/store",
    "telemetry",
    "wire",
  ],
  contents: ["store/store"],
  ends: [],
  generations: [],
  "ask-health": ["config"],
  main: ["app", "ask-health", "contents", "config", "describe", "ledger", "source", "store"],
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

/** The room of a path below src, or "gen". */
function roomOf(path: string): string {
  if (path.startsWith("gen/")) return "gen";
  const below = path.replace(/^src\//, "").replace(/\.ts$/, "");
  return below in allowed ? below : (below.split("/")[0] ?? below);
}

test("every file of src is in a room that has a rule", () => {
  expect(files.length).toBeGreaterThan(30);
  expect([...new Set(files.map(roomOf))].filter((room) => !(room in allowed))).toEqual([]);
});

test("no room imports from one that it may not", () => {
  const wrong = imports.filter(({ file, target }) => {
    const from = roomOf(file);
    const single =
      ["src/registry/derived", "src/registry/errors", "src/registry/registry"].includes(target) && from === "wire";
    const to = single ? target.replace("src/", "") : roomOf(target);
    return from !== to && !allowed[from]?.includes(to);
  });
  expect(wrong).toEqual([]);
  expect(imports.length).toBeGreaterThan(100);
});

test("the environment is read in config alone", () => {
  const readers = files.filter((file) => readFileSync(join("src", file), "utf8").includes("process.env"));
  expect(readers).toEqual(["config/config.ts"]);
});

test("the registry knows nothing of protobuf, HTTP or SQL", () => {
  const packages = files
    .filter((file) => file.startsWith("registry/") || file.startsWith("store/store"))
    .flatMap((file) =>
      [...readFileSync(join("src", file), "utf8").matchAll(/^(?:import|\}).* from "([^."][^"]*)"/gm)].map(
        (match) => match[1],
      ),
    );
  expect(packages).toEqual([]);
});
