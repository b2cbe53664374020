/** What the README says is what happens. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { createFileRegistry, fromBinary, getOption, type JsonValue } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { http } from "../../gen/google/api/annotations_pb.js";
import { formatDefault, helpText } from "../../src/cli/help.js";
import { type Setting, settings } from "../../src/config/settings.js";
import { type Running, serveFile } from "../fixtures/run-service.js";

const readme = readFileSync("README.md", "utf8");
const blocks = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text = ""]) => ({
  language,
  text,
}));

/** The JSON block behind the first block that begins with a command, and that command. */
function shown(command: string): { command: string; answer: JsonValue } {
  const at = blocks.findIndex(({ text }) => text.startsWith(command));
  const answer = blocks.slice(at).find(({ language }) => language === "json");
  if (at === -1 || answer === undefined) throw new Error(`README.md shows no ${command} with an answer`);
  return { command: blocks[at]?.text ?? "", answer: JSON.parse(answer.text) as JsonValue };
}

/** A text that ends in … stands for every text that begins so. */
function uncut(value: JsonValue): unknown {
  if (typeof value === "string" && value.endsWith("…")) {
    return beginningWith(value.slice(0, -1));
  }
  if (Array.isArray(value)) return value.map(uncut);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, uncut(inner)]));
}

const beginningWith = (text: string): unknown =>
  expect.stringMatching(new RegExp(`^${text.replaceAll(/[+/]/g, "\\$&")}`));

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined);
});
afterAll(() => running.close());

test("the request by curl gets the answer shown", async () => {
  const { command, answer } = shown("curl ");
  const [, path] = /http:\/\/localhost:8080(\S+)/.exec(command) ?? [];
  const [, body] = /-d '([^']+)'/.exec(command) ?? [];
  const { status, body: got } = await running.post(path ?? "", JSON.parse(body ?? "") as JsonValue);
  expect(status).toBe(200);
  expect(got).toEqual(uncut(answer));
});

test.each(["connect", "grpc", "grpcweb"])("the request by buf curl with %s gets the answer shown", async (protocol) => {
  const { command, answer } = shown("npx buf curl ");
  const line = command
    .replace("npx buf", "node_modules/.bin/buf")
    .replace("--protocol grpc", `--protocol ${protocol}`)
    .replace("http://localhost:8080", running.url);
  const { stdout } = await promisify(execFile)("sh", ["-c", line]);
  expect(JSON.parse(stdout)).toEqual(uncut(answer));
});

test("the table of settings has every setting with its default, in the order of the help", () => {
  const rows = [...readme.matchAll(/^\| `(OFFLEDGER_\w+)` \|/gm)].map(([, variable]) => variable);
  expect(rows).toEqual(Object.values<Setting<unknown>>(settings).map(({ variable }) => variable));
  for (const setting of Object.values<Setting<unknown>>(settings)) {
    const { variable, flag, accepts } = setting;
    const row = readme.split("\n").find((line) => line.startsWith(`| \`${variable}\` |`));
    expect(row).toContain(`| \`--${flag}\` |`);
    expect(row).toContain(`| ${accepts} | ${formatDefault(setting)} |`);
  }
});

test("README and the page on the database name every command that serves or prepares", () => {
  const known = [...helpText().matchAll(/^ {2}offledger (\w+)/gm)].map(([, command]) => command);
  expect(known).toEqual(["serve", "mirror", "api", "migrate", "check", "health", "help", "version"]);
  for (const command of ["serve", "mirror", "api", "migrate"]) {
    expect(readme).toContain(`offledger ${command}`);
    expect(readFileSync("docs/postgres.md", "utf8")).toContain(`| \`offledger ${command}\` |`);
  }
});

test("the table of operations has every rpc that is served, with its method and path", () => {
  const rows = readFileSync("docs/operations.md", "utf8").matchAll(/^\| (GET|POST) \| `(.*)` \| `(.*)` \|$/gm);
  const told = [...rows].map(([, verb = "", path = "", rpc]) => {
    const whole = path
      .replace(/^R/, "/api/token-standard/v0/registrars/{registrarParty}/registry")
      .replace(/^U/, "/api/utilities/v0");
    return `${rpc} ${verb} ${whole.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
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
  expect(told.toSorted()).toEqual(served.toSorted());
  expect(readme).toContain(`There are ${served.length},`);
});
