/** Generates the code of the proto files into a temporary folder and fails if it differs from gen/. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const temporary = mkdtempSync(join(tmpdir(), "offledger-gen-"));
try {
  buf("generate", "--output", temporary);
  const image = join(temporary, "gen/offledger.binpb");
  buf("build", "--path", "proto/offledger", "--as-file-descriptor-set", "-o", image);
  execFileSync("tsx", ["scripts/openapi.ts", join(temporary, "gen/openapi.json")], { stdio: "inherit" });
  execFileSync("tsx", ["scripts/registry-schema.ts", join(temporary, "gen")], { stdio: "inherit" });
  const generated = readFolder(join(temporary, "gen"));
  const committed = readFolder("gen");
  const differing = [...new Set([...generated.keys(), ...committed.keys()])].filter(
    (path) => generated.get(path)?.equals(committed.get(path) ?? Buffer.from("missing")) !== true,
  );
  if (differing.length > 0) {
    process.stderr.write(`gen/ is out of date; run npm run proto. Different files:\n${differing.join("\n")}\n`);
    process.exitCode = 1;
  }
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

function buf(...args: string[]): void {
  execFileSync("buf", args, { stdio: "inherit" });
}

function readFolder(folder: string): Map<string, Buffer> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const files = paths.filter((path) => statSync(join(folder, path)).isFile());
  return new Map(files.map((path) => [path, readFileSync(join(folder, path))]));
}
