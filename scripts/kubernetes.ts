/**
 * Puts into a folder what checks the Helm chart: helm and kubeconform, built by Go, and JSON schemas: those of the oldest and the
 * newest Kubernetes of PyPI's kubernetes-validate, and those of the custom resources, from the modules that define them.
 *
 *     npx tsx scripts/kubernetes.ts FOLDER
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parse } from "yaml";

const tools = ["helm.sh/helm/v3/cmd/helm@v3.22.0", "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0"];
const kubernetes = "kubernetes-validate==1.37.0";
/** Folders of definitions by module. The packages of kubernetes-models want Node.js 22, and accept unknown fields. */
const custom = {
  "sigs.k8s.io/gateway-api@v1.4.1": "config/crd/standard",
  "github.com/prometheus-operator/prometheus-operator@v0.85.0": "example/prometheus-operator-crd",
};
const kinds = /_(?:httproutes|grpcroutes|servicemonitors|prometheusrules)\.yaml$/;

type JsonObject = Readonly<{ [name: string]: Json }>;
type Json = string | number | boolean | null | Json[] | JsonObject;
interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Json } }[];
  };
}

/** Changes every object of a schema, from the innermost. */
function change(value: Json, of: (object: JsonObject) => Json): Json {
  if (Array.isArray(value)) return value.map((one) => change(one, of));
  if (typeof value !== "object" || value === null) return value;
  return of(Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner, of)])));
}

/** References beside the file; no names that a validator would look up. */
const local = (object: JsonObject): Json =>
  Object.fromEntries(
    Object.entries(object)
      .filter(([name, value]) => !["$id", "$schema"].includes(name) || typeof value !== "string")
      .map(([name, value]) => [
        name,
        name === "$ref" && typeof value === "string" ? value.replace("/api/", "") : value,
      ]),
  );

/** Objects that list their properties have no others, as a server with strict validation decides. */
const closed = (object: JsonObject): Json =>
  object["type"] === "object" && "properties" in object && !("x-kubernetes-preserve-unknown-fields" in object)
    ? { additionalProperties: false, ...object }
    : object;

const [argument] = process.argv.slice(2);
if (argument === undefined) throw new Error("usage: npx tsx scripts/kubernetes.ts FOLDER");
const folder = resolve(argument);
const write = (name: string, file: string, schema: Json) => {
  mkdirSync(join(folder, "schemas", name), { recursive: true });
  writeFileSync(join(folder, "schemas", name, file), JSON.stringify(schema));
};
const read = (path: string): string => readFileSync(path, "utf8");
const run = (file: string, args: readonly string[], env = {}) =>
  execFileSync(file, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...env } });

for (const tool of tools) run("go", ["install", tool], { GOBIN: folder });

for (const [module, path] of Object.entries(custom)) {
  const { Dir } = JSON.parse(run("go", ["mod", "download", "-json", module])) as { readonly Dir: string };
  for (const name of readdirSync(join(Dir, path)).filter((one) => kinds.test(one))) {
    const { group, names, versions } = (parse(read(join(Dir, path, name))) as Definition).spec;
    for (const { name: version, schema } of versions)
      write(
        "custom",
        `${names.kind}-${group.split(".")[0]}-${version}.json`.toLowerCase(),
        change(schema.openAPIV3Schema, closed),
      );
  }
}

const wheel = mkdtempSync(join(tmpdir(), "offledger-schemas-"));
const download = "-m pip download --quiet --no-deps --only-binary :all: --dest".split(" ");
run("python3", [...download, wheel, kubernetes]);
const [archive = ""] = readdirSync(wheel);
run("python3", ["-m", "zipfile", "--extract", join(wheel, archive), wheel]);
const all = join(wheel, "kubernetes_validate", "kubernetes-json-schema");
const minor = (name: string): number => Number(name.split(".")[1]);
const strict = readdirSync(all)
  .filter((name) => name.endsWith("-local-strict"))
  .toSorted((a, b) => minor(a) - minor(b));
for (const name of [strict[0], strict.at(-1)].filter((one) => one !== undefined))
  for (const file of readdirSync(join(all, name)))
    write(name.replace("-local-strict", ""), file, change(JSON.parse(read(join(all, name, file))) as Json, local));
rmSync(wheel, { recursive: true });
