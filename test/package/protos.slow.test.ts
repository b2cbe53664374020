/** The proto files of the packed package: they compile without anything else, with the tools of other projects. */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { fromBinary } from "@bufbuild/protobuf";
import { type FileDescriptorSet, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Project } from "./project.js";

const bin = fileURLToPath(new URL("../../node_modules/.bin/", import.meta.url));

let project: Project;
beforeAll(async () => {
  project = await Project.withServer();
}, 120_000);
afterAll(() => project.remove());

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

  test("names the published code of its imports", async () => {
    const { file } = await readDefinitions(`${packageRoot}/gen/offledger.binpb`);
    const options = (name: string) => file.find((one) => one.name === name)?.options;
    expect(options("google/api/annotations.proto")).toMatchObject({
      goPackage: "google.golang.org/genproto/googleapis/api/annotations;annotations",
      javaPackage: "com.google.api",
    });
    expect(options("buf/validate/validate.proto")).toMatchObject({
      goPackage: "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate",
      javaPackage: "build.buf.validate",
    });
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
