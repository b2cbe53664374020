/** Writes the OpenAPI document of the proto files to gen/openapi.json, or to the path in the first argument. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { openApiDocument } from "./openapi/document.js";

// Built again because the descriptors in gen/ have no comments.
const image = execFileSync("buf", ["build", "--path", "proto/offledger", "--as-file-descriptor-set", "-o", "-"], {
  maxBuffer: 64 * 1024 * 1024,
});
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, image));
const { version } = createRequire(import.meta.url)("#package.json") as { version: string };
const document = openApiDocument(registry, version);
writeFileSync(process.argv[2] ?? "gen/openapi.json", `${JSON.stringify(document, null, 2)}\n`);
