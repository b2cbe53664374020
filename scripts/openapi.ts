/** Writes the OpenAPI document from the proto files: to gen/openapi.json, or to the path that is given. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { openApiDocument } from "./openapi/document.js";

// With comments, which the descriptors in gen/ do without.
const image = execFileSync("buf", ["build", "--path", "proto/offledger", "--as-file-descriptor-set", "-o", "-"], {
  maxBuffer: 64 * 1024 * 1024,
});
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, image));
const { version } = createRequire(import.meta.url)("#package.json") as { version: string };
const document = openApiDocument(registry, version);
writeFileSync(process.argv[2] ?? "gen/openapi.json", `${JSON.stringify(document, null, 2)}\n`);
