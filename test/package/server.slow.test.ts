/** The packed package of the server: its files, and the program in it. */
import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Program } from "../fixtures/program.js";
import { Project } from "./project.js";

let project: Project;
beforeAll(async () => {
  project = await Project.withServer();
}, 120_000);
afterAll(() => project.remove());

describe("the package", () => {
  test("contains the program, definitions, migrations and demos, and no sources", async () => {
    const top = new Set(project.packed.map((path) => path.replace(/\/.*/, "")));
    expect([...top].toSorted()).toEqual([
      "README.md",
      "clients",
      "demo",
      "dist",
      "gen",
      "package.json",
      "proto",
      "registries",
      "src",
      "third_party",
    ]);
    expect(project.packed.filter((path) => /(?:^|\/)(?:test|bench|scripts)\/|\.test\.(?!yaml$)/.test(path))).toEqual(
      [],
    );
    // Of the clients only the templates, which name the generators.
    const clients = project.packed.filter((path) => path.startsWith("clients/"));
    expect(clients.filter((path) => !/^clients\/buf\/.*\.yaml$/.test(path))).toEqual([]);
    expect(project.packed.filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))).toEqual([]);
    // The program reads the table of operations and the migrations from src.
    const migrations = await readdir("src/store/postgres/migrations");
    expect(project.packed.filter((path) => path.startsWith("src/")).toSorted()).toEqual(
      [
        "src/registry/utility/utility.yaml",
        ...migrations.map((name) => `src/store/postgres/migrations/${name}`),
      ].toSorted(),
    );
    expect(project.packed).toEqual(
      expect.arrayContaining([
        "demo/registry.ndjson",
        "demo/minimal.ndjson",
        "gen/offledger.binpb",
        "gen/openapi.json",
        "gen/contexts.schema.json",
        "gen/registry.schema.json",
        "dist/console/index.html",
        "dist/console/main.js",
        "dist/console/style.css",
        "dist/console/views/overview.js",
      ]),
    );
  });

  test("contains every file that package.json names", async () => {
    const { bin, exports } = await project.manifest("offledger");
    const paths = [
      ...Object.values(bin ?? {}),
      ...Object.values(exports).flatMap((one) => Object.values(Object(one) as object)),
    ];
    expect(paths.length).toBeGreaterThan(2);
    for (const path of paths.filter((text) => text.length > 1))
      expect(project.packed).toContain(String(path).replace(/^\.\//, ""));
  });

  test("exports nothing else", async () => {
    await project.write(
      "inside.js",
      `const results = await Promise.allSettled(["offledger", "offledger/dist/src/app/app.js", "offledger/client"].map((name) => import(name)));
       console.log(JSON.stringify(results.map(({ reason }) => reason?.code)));`,
    );
    const code = "ERR_PACKAGE_PATH_NOT_EXPORTED";
    expect(await project.json("inside.js")).toEqual([code, code, code]);
  });

  test.each([
    ["the demo of the Registry Utility", [], "acme-registrar::1220"],
    ["the demo of the minimal registry", ["--registry", "minimal"], "coffee-club::1220"],
  ])("starts without settings, with %s", async (_title, args, registrar) => {
    const env = { OFFLEDGER_PORT: "0", OFFLEDGER_LOG_LEVEL: "warn" };
    const program = new Program(process.execPath, [project.program, "serve", ...args], { cwd: project.folder, env });
    const [, url = ""] = await program.printed(/^offledger serves \S+ at (http:\S+)$/m);
    await program.printed(new RegExp(`^registrar ${registrar}`, "m"));
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await fetch(`${url}/docs`)).status).toBe(200);
    expect((await fetch(`${url}/docs/static/swagger-ui-bundle.js`)).status).toBe(200);
    program.stop();
    expect(await program.ended()).toMatchObject({ code: 0, err: "" });
  });

  test("serves the console on the operator's port", async () => {
    const env = { OFFLEDGER_PORT: "0", OFFLEDGER_METRICS_PORT: "0" };
    const program = new Program(process.execPath, [project.program, "serve"], { cwd: project.folder, env });
    await program.printed(/^offledger serves/m);
    const [, url = ""] = /"url":"(http:[^"]+)\/metrics"/.exec(program.err) ?? [];
    for (const path of ["/console", "/console/main.js", "/console/views/overview.js", "/console/style.css"]) {
      expect((await fetch(url + path)).status).toBe(200);
    }
  });
});
