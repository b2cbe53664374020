/** The examples and tables of the documents match the program. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createFileRegistry, fromBinary, getOption, type JsonValue } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { http } from "../../gen/google/api/annotations_pb.js";
import { formatDefault, helpText } from "../../src/cli/help.js";
import { type Setting } from "../../src/config/setting.js";
import { settings } from "../../src/config/settings.js";
import { ERROR_REASONS } from "../../src/transport/errors.js";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { expandShortened } from "./shortened.js";

const readme = readFileSync("README.md", "utf8");

interface Example {
  readonly command: string;
  readonly answer: JsonValue;
}

/** The first code block that starts with a command, and the JSON block after it. */
function readExample(document: string, start: string): Example {
  const blocks = [...document.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text = ""]) => ({
    language,
    text,
  }));
  const index = blocks.findIndex(({ text }) => text.startsWith(start));
  const answer = blocks.slice(index).find(({ language }) => language === "json");
  if (index === -1 || answer === undefined) throw new Error(`no example of ${start} with an answer`);
  return { command: blocks[index]?.text ?? "", answer: JSON.parse(answer.text) as JsonValue };
}

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined);
});
afterAll(() => running.close());

test("the curl request of the README returns the answer shown", async () => {
  const { command, answer } = readExample(readme, "curl ");
  const [, path] = /http:\/\/localhost:8080(\S+)/.exec(command) ?? [];
  const [, body] = /-d '([^']+)'/.exec(command) ?? [];
  const response = await running.post(path ?? "", JSON.parse(body ?? "") as JsonValue);
  expect(response.status).toBe(200);
  expect(response.body).toEqual(expandShortened(answer));
});

test.each(["connect", "grpc", "grpcweb"])(
  "the buf curl request of docs/clients.md returns the answer by %s",
  async (protocol) => {
    const { command, answer } = readExample(readFileSync("docs/clients.md", "utf8"), "npx buf curl ");
    const line = command
      .replace("npx buf", "node_modules/.bin/buf")
      .replace("--protocol grpc", `--protocol ${protocol}`)
      .replace("http://localhost:8080", running.url);
    const { stdout } = await promisify(execFile)("sh", ["-c", line]);
    expect(JSON.parse(stdout)).toEqual(expandShortened(answer));
  },
);

test("docs/configuration.md lists every setting in the order of the help", () => {
  const page = readFileSync("docs/configuration.md", "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| `OFFLEDGER_"));
  expect(rows).toEqual(
    Object.values<Setting<unknown>>(settings).map((setting) => {
      const { variable, flag, description, accepts } = setting;
      return `| \`${variable}\` | \`--${flag}\` | ${description} | ${accepts} | ${formatDefault(setting)} |`;
    }),
  );
});

test("docs/errors.md lists every reason of an error with its code", () => {
  const rows = readFileSync("docs/errors.md", "utf8").matchAll(/^\| `([A-Z_]+)` \| `([a-z_]+)` \|/gm);
  const listed = [...rows].map(([, reason, code]) => [reason, code]);
  expect(listed).toEqual(Object.entries(ERROR_REASONS).map(([reason, { code }]) => [reason, codeToString(code)]));
});

test("the request of docs/errors.md returns the answer shown", async () => {
  const { command, answer } = readExample(readFileSync("docs/errors.md", "utf8"), "curl ");
  const [, path] = /http:\/\/localhost:8080(\S+)/.exec(command) ?? [];
  const [, body] = /-d '([^']+)'/.exec(command) ?? [];
  const response = await running.post(path ?? "", JSON.parse(body ?? "") as JsonValue);
  expect([response.status, response.body]).toEqual([400, answer]);
});

test("README and docs/postgres.md list the commands", () => {
  const known = [...helpText().matchAll(/^ {2}offledger (\w+)/gm)].map(([, command]) => command);
  const all = [
    "serve",
    "mirror",
    "api",
    "migrate",
    "check",
    "contexts",
    "registry",
    "explain",
    "health",
    "help",
    "version",
  ];
  expect(known).toEqual(all);
  for (const command of ["serve", "mirror", "api", "migrate"]) {
    expect(readme).toContain(`offledger ${command}`);
    expect(readFileSync("docs/postgres.md", "utf8")).toContain(`| \`offledger ${command}\` |`);
  }
});

test("the links of README, CONTRIBUTING and docs lead to files", () => {
  const documents = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "packages/client/README.md",
    ...markdownIn("docs"),
  ];
  const broken = documents.flatMap((document) =>
    [...readFileSync(document, "utf8").matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
      .map(([, target = ""]) => target)
      .filter((target) => !existsSync(join(dirname(document), target)))
      .map((target) => `${document}: ${target}`),
  );
  expect(broken).toEqual([]);
});

const markdownIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));

test("docs/operations.md lists every rpc with its method and path", () => {
  const page = readFileSync("docs/operations.md", "utf8");
  const rows = page.matchAll(/^\| (GET|POST) \| `(.*)` \| `(.*)` \|$/gm);
  const listed = [...rows].map(([, verb = "", path = "", rpc]) => {
    const fullPath = path
      .replace(/^R/, "/api/token-standard/v0/registrars/{registrarParty}/registry")
      .replace(/^U/, "/api/utilities/v0");
    return `${rpc} ${verb} ${fullPath.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
  });
  const image = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync("gen/offledger.binpb")));
  const services = [...image].filter((desc) => desc.kind === "service" && desc.typeName.startsWith("offledger."));
  const served = services
    .flatMap((service) => (service.kind === "service" ? service.methods : []))
    .map((method) => {
      const { pattern } = getOption(method, http);
      const path = typeof pattern.value === "string" ? pattern.value : "";
      return `${method.parent.typeName}/${method.name} ${pattern.case?.toUpperCase()} ${path}`;
    });
  expect(listed.toSorted()).toEqual(served.toSorted());
  const ofOperators = served.filter((one) => /^offledger\.(?:explain|console)\./.test(one));
  const [, section = ""] = /^## The operator's port\n(.*?)^## /ms.exec(page) ?? [];
  expect(section.match(/^\| (?:GET|POST) /gm)).toHaveLength(ofOperators.length);
  for (const one of ofOperators) expect(section).toContain(`| \`${one.split(" ")[0]}\` |`);
  expect(readme).toContain(`There are ${served.length - ofOperators.length} operations`);
});
