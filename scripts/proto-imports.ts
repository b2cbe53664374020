/**
 * Writes the imports of our proto files into third_party/, so that buf needs no schema registry, and protoc finds them
 * in the package: google/api/*.proto is copied from protobufjs, and buf/validate/validate.proto is printed from the
 * descriptor in @bufbuild/protovalidate. Both keep the file options of their publishers, so that generated code refers
 * to the published modules.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { file_buf_validate_validate } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { printProto } from "./print-proto.js";

const out = "third_party";
const protobufjs = dirname(createRequire(import.meta.url).resolve("protobufjs/package.json"));

/** The published file options of google/api, which protobufjs leaves out. */
const googleOptions = (outerClass: string) => `package google.api;

option go_package = "google.golang.org/genproto/googleapis/api/annotations;annotations";
option java_multiple_files = true;
option java_outer_classname = "${outerClass}";
option java_package = "com.google.api";
option objc_class_prefix = "GAPI";`;

const validateHeader = `// Copyright Buf Technologies, Inc., under the Apache License 2.0.
// The fields of https://github.com/bufbuild/protovalidate, without comments and rules in CEL. A library that checks
// rules has a complete buf/validate/validate.proto, which is to be used in place of this one.`;

rmSync(out, { recursive: true, force: true });
for (const [name, outerClass] of [
  ["annotations", "AnnotationsProto"],
  ["http", "HttpProto"],
] as const) {
  const path = `google/api/${name}.proto`;
  const source = readFileSync(join(protobufjs, path), "utf8");
  const text = source.replace("package google.api;", googleOptions(outerClass));
  if (text === source) throw new Error(`${path} of protobufjs must have the package google.api, but has another`);
  write(path, `// Copyright Google LLC, under the Apache License 2.0.\n${text}`);
}
write("buf/validate/validate.proto", `${validateHeader}\n${printProto(file_buf_validate_validate.proto)}`);

function write(path: string, text: string): void {
  mkdirSync(join(out, dirname(path)), { recursive: true });
  writeFileSync(join(out, path), text);
}
