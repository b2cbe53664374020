/** The packed package of the server: its files, the program in it, and proto files for the tools of other projects. */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { fromBinary } from "@bufbuild/protobuf";
import { type FileDescriptorSet, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { party } from "../../demo/element.js";
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
      "deploy",
      "dist",
      "docs",
      "gen",
      "node_modules",
      "package.json",
      "packages",
      "proto",
      "registries",
      "src",
      "third_party",
    ]);
    const own = project.packed.filter((path) => !path.startsWith("node_modules/"));
    expect(own.filter((path) => /(?:^|\/)(?:test|bench|scripts)\/|\.test\.(?!yaml$)/.test(path))).toEqual([]);
    // Of the clients only the templates, which name the generators.
    const clients = project.packed.filter((path) => path.startsWith("clients/"));
    expect(clients.filter((path) => !/^clients\/buf\/.*\.yaml$/.test(path))).toEqual([]);
    expect(own.filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))).toEqual([]);
    // The program reads the table of operations and the migrations from src.
    const migrations = await readdir("src/state/postgres/migrations");
    expect(project.packed.filter((path) => path.startsWith("src/")).toSorted()).toEqual(
      [
        "src/registry/utility/utility.yaml",
        ...migrations.map((name) => `src/state/postgres/migrations/${name}`),
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

  test("starts without settings, with the demo, the documentation and the console", async () => {
    const env = { OFFLEDGER_PORT: "0", OFFLEDGER_METRICS_PORT: "0" };
    const program = new Program(process.execPath, [project.program, "serve"], { cwd: project.folder, env });
    const url = await program.listens();
    const [, metrics = ""] = /"url":"(http:[^"]+)\/metrics"/.exec(program.err) ?? [];
    const paths = ["/readyz", "/docs", "/docs/static/swagger-ui-bundle.js"].map((path) => url + path);
    const pages = ["/console", "/console/main.js", "/console/views/overview.js", "/console/style.css"];
    for (const address of [...paths, ...pages.map((path) => metrics + path)])
      expect([address, (await fetch(address)).status]).toEqual([address, 200]);
    // Another program in it, with files of its own.
    const registrar = party("acme-registrar");
    const parties = ["--registrar", registrar, "--sender", party("alice"), "--receiver", party("bob")];
    const checked = [project.program, "conformance", `${url}/`, ...parties, "--replica", `${url}/`, "--rate", "100"];
    const { stdout } = await promisify(execFile)(process.execPath, checked, { cwd: project.folder });
    expect(stdout).toMatch(/^\d+ passed, 0 failed, \d+ skipped/m);
    expect(stdout).toMatch(/^ok +should +replicas: /m);
    program.stop();
    expect(await program.ended()).toMatchObject({ code: 0 });
  });
});

const bin = fileURLToPath(new URL("../../node_modules/.bin/", import.meta.url));

/** Runs buf in the project, where it finds the plugin of TypeScript and no schema registry. */
async function buf(...args: string[]): Promise<void> {
  const env = {
    ...process.env,
    PATH: `${bin}:${process.env["PATH"]}`,
    BUF_TOKEN: "",
    BUF_CACHE_DIR: project.path("cache"),
  };
  await promisify(execFile)(`${bin}buf`, args, { cwd: project.folder, env });
}

async function readDefinitions(path: string): Promise<FileDescriptorSet> {
  return fromBinary(FileDescriptorSetSchema, await readFile(project.path(path)));
}

const packageRoot = "node_modules/offledger";
const protosOf = (files: readonly string[]): string[] =>
  files.filter((path) => /^proto\/offledger\/.*\.proto$/.test(path)).map((path) => path.slice("proto/".length));

test("proto and third_party compile alone", async () => {
  const modules = ["proto", "third_party"].map((folder) => ({ path: `${packageRoot}/${folder}` }));
  await project.write("buf.yaml", JSON.stringify({ version: "v2", modules }));
  await buf("build", "--as-file-descriptor-set", "-o", "compiled.binpb");
  const names = (await readDefinitions("compiled.binpb")).file.map(({ name }) => name);
  const packed = protosOf(project.packed);
  expect(packed.length).toBeGreaterThan(30);
  expect(names).toEqual(expect.arrayContaining(packed));
});

describe("the descriptor set", () => {
  test("has every own file with its comments, and none of grpc", async () => {
    const { file } = await readDefinitions(`${packageRoot}/gen/offledger.binpb`);
    const own = file.filter(({ name }) => name.startsWith("offledger/"));
    expect(own.map(({ name }) => name).toSorted()).toEqual(protosOf(project.packed).toSorted());
    const commented = own.filter(({ sourceCodeInfo }) =>
      sourceCodeInfo?.location.some(({ leadingComments }) => leadingComments !== ""),
    );
    expect(commented).toEqual(own);
    expect(file.filter(({ name }) => name.startsWith("grpc/"))).toEqual([]);
  });

  test("generates code of its own files only", async () => {
    const template = `${packageRoot}/clients/buf/buf.gen.typescript.yaml`;
    const paths = ["--path", "offledger", "--path", "google/api"];
    await buf("generate", `${packageRoot}/gen/offledger.binpb`, ...paths, "--template", template);
    const generated = await readdir(project.path("gen"), { recursive: true });
    const modules = generated.filter((path) => path.endsWith(".ts")).toSorted();
    const expected = [...protosOf(project.packed), "google/api/annotations.proto", "google/api/http.proto"];
    expect(modules).toEqual(expected.map((path) => path.replace(/\.proto$/, "_pb.ts")).toSorted());
  });
});
