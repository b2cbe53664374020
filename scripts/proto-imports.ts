/**
 * Writes the imports of our proto files into third_party/, so that buf needs no
 * schema registry: google/api/*.proto is copied from protobufjs, and
 * buf/validate/validate.proto is printed from the descriptor in
 * @bufbuild/protovalidate.
 */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { file_buf_validate_validate } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { printProto } from "./print-proto.js";

const out = "third_party";
const protobufjs = dirname(createRequire(import.meta.url).resolve("protobufjs/package.json"));

rmSync(out, { recursive: true, force: true });
for (const path of ["google/api/annotations.proto", "google/api/http.proto"]) {
  mkdirSync(join(out, dirname(path)), { recursive: true });
  copyFileSync(join(protobufjs, path), join(out, path));
}
mkdirSync(join(out, "buf/validate"), { recursive: true });
writeFileSync(join(out, "buf/validate/validate.proto"), printProto(file_buf_validate_validate.proto));
