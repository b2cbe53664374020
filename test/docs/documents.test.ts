/** The examples and tables of the documents match the program. */
import { execFile } from "node:child_process";
import { findClients } from "../../scripts/clients/folders.js";
import { tableErrors } from "../../scripts/clients/table.js";
import { checkSnapshot, formatSnapshotCheck } from "../../src/cli/check.js";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createFileRegistry, fromBinary, getOption, type JsonValue } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { http } from "../../gen/google/api/annotations_pb.js";
import { formatDefault, helpText } from "../../src/cli/help.js";
import { type Setting } from "../../src/config/setting.js";
import { settings } from "../../src/config/settings.js";
import { quiet, type Running, serveFile } from "../fixtures/run-service.js";
import { listWarnings } from "../fixtures/warnings.js";
import { start } from "../telemetry/starting.js";
import { expandShortened, Page, requestOf } from "./pages.js";

const readme = Page.read("README.md");
const clientsPage = Page.read("docs/clients.md");
const errorsPage = Page.read("docs/errors.md");
const checkPage = Page.read("docs/check.md");

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined);
});
afterAll(() => running.close());

test.each<[string, Page, number]>([
  ["the README", readme, 200],
  ["docs/errors.md", errorsPage, 400],
])("the request of %s returns the answer shown", async (_name, page, status) => {
  const { path, body } = requestOf(page.block("sh", "curl "));
  const answer = JSON.parse(page.from("```sh\ncurl ").block("json")) as JsonValue;
  const response = await running.post(path, JSON.parse(body) as JsonValue);
  expect([response.status, response.body]).toEqual([status, expandShortened(answer)]);
});

test("the buf curl request of docs/clients.md returns the answer shown", async () => {
  const command = clientsPage.block("sh", "npx buf curl ");
  const answer = JSON.parse(clientsPage.from("```sh\nnpx buf curl ").block("json")) as JsonValue;
  const line = command.replace("npx buf", "node_modules/.bin/buf").replace("http://localhost:8080", running.url);
  const { stdout } = await promisify(execFile)("sh", ["-c", line]);
  expect(JSON.parse(stdout)).toEqual(expandShortened(answer));
});

test("docs/configuration.md lists every setting in the order of the help", () => {
  const page = readFileSync("docs/configuration.md", "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("- `OFFLEDGER_") && line.includes("`: "));
  expect(rows).toEqual(
    Object.values<Setting<unknown>>(settings).map((setting) => {
      const { variable, description, accepts } = setting;
      const label = formatDefault(setting);
      return `- \`${variable}\`: ${description}: ${accepts}${label === "" ? "" : ` (default ${label})`}`;
    }),
  );
});

test("README and docs/postgres.md list the commands", () => {
  const known = [...helpText().matchAll(/^ {2}offledger (\w+)/gm)].map(([, command]) => command);
  expect(known.join(" ")).toBe(
    "serve mirror api migrate check contexts registry explain health help version conformance",
  );
  for (const command of ["serve", "mirror", "api", "migrate"]) {
    expect(readme.text).toContain(`- \`offledger ${command}\`: `);
    expect(readFileSync("docs/postgres.md", "utf8")).toContain(`- \`offledger ${command}\` `);
  }
});

/** The anchors of a document's headings, as GitHub makes them. */
const anchorsOf = (document: string): Set<string> =>
  new Set(
    [...readFileSync(document, "utf8").matchAll(/^#{2,} (.+)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, "")
        .replaceAll(" ", "-"),
    ),
  );

test("the links of README, CONTRIBUTING and docs lead to files, and to headings in them", () => {
  const names = "README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md packages/client/README.md test/README.md".split(
    " ",
  );
  const documents = [...names, ...markdownIn("docs")];
  const broken = documents.flatMap((document) =>
    [...readFileSync(document, "utf8").matchAll(/\]\(([^)#:]*)(?:#([^)]*))?\)/g)]
      .map(([, path = "", anchor]) => ({ target: path === "" ? document : join(dirname(document), path), anchor }))
      .filter(({ target, anchor }) => !existsSync(target) || (anchor !== undefined && !anchorsOf(target).has(anchor)))
      .map(({ target, anchor }) => `${document}: ${target}#${anchor ?? ""}`),
  );
  expect(broken).toEqual([]);
});

const markdownIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));

// Whoever uses the machine reads command lines; printf is a builtin of shells.
test("no page puts a secret on a command line, or into a file that others may read", () => {
  const pages = readdirSync("docs").filter((name) => name.endsWith(".md"));
  const blocks = pages.flatMap((name) => Page.read(`docs/${name}`).blocks.map(({ text }) => ({ name, text })));
  const named = /\$\(cat [^)]*(?:password|token|secret)|Bearer "?\$|-v password/;
  const shown = blocks.flatMap(({ name, text }) =>
    text.split("\n").flatMap((line) => (named.test(line) && !line.startsWith("printf ") ? [`${name}: ${line}`] : [])),
  );
  expect(shown).toEqual([]);
  const written = blocks.filter(({ text }) => /openssl (?:rand|req) .*(?:> |-keyout )/.test(text));
  expect(written.map(({ name }) => name)).toContain("production.md");
  expect(written.filter(({ text }) => !/umask 077[;\n]+.*openssl/.test(text))).toEqual([]);
});

test("docs/operations.md lists every rpc with its method and path", () => {
  const page = readFileSync("docs/operations.md", "utf8");
  const rows = page.matchAll(/^- `(GET|POST) (.*)`: `(.*)`$/gm);
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
  expect(section.match(/^- `(?:GET|POST) /gm)).toHaveLength(ofOperators.length);
  for (const one of ofOperators) expect(section).toContain(`: \`${one.split(" ")[0]}\`\n`);
});

const clients = findClients();

test("docs/clients.md lists every client", () => {
  expect(clients.length).toBeGreaterThan(2);
  expect(tableErrors(clients)).toEqual([]);
});

const pins = /^(?:go\.mod|Cargo\.lock|requirements\.txt|pom\.xml|package(?:-lock)?\.json)$/;

test.each(clients.flatMap(({ name, stacks }) => stacks.map((stack) => ({ client: name, ...stack }))))(
  "clients/$client pins $name of version $version",
  ({ client, version }) => {
    const folder = join("clients", client);
    const own = readdirSync(folder).filter((file) => pins.test(file));
    // A client in TypeScript without a package of its own uses that of the repository.
    const pinned = own.length > 0 ? own.map((file) => join(folder, file)) : ["package.json"];
    expect(pinned.map((path) => readFileSync(path, "utf8")).join("\n")).toContain(version);
  },
);

const shorten = (text: string): string =>
  text.replaceAll(/\b(00[0-9a-f]{6})[0-9a-f]{130}\b/g, "$1…").replaceAll(/1220[0-9a-f]{64}/g, "1220…");

test("docs/check.md shows the output for the demo registry", async () => {
  const path = "demo/registry.ndjson";
  const { snapshot, inventory } = await checkSnapshot(quiet(), [readFileSync(path, "utf8")], Date.parse("2026-06-01"));
  const shown = `$ offledger check --snapshot ${path}\n${shorten(formatSnapshotCheck(path, snapshot, inventory))}`;
  expect(checkPage.block("text")).toBe(shown);
});

test("docs/check.md shows the list of a running service", async () => {
  const app = await start({ metricsPort: { host: "127.0.0.1", port: 0 } });
  const list = await listWarnings(app.metricsUrl);
  const listed = JSON.parse(shorten(JSON.stringify(list))) as { readonly warnings: { message: string }[] };
  const shown = JSON.parse(checkPage.block("json")) as typeof listed;
  listed.warnings.splice(1);
  // Messages are shortened after the first contract id.
  for (const warning of listed.warnings) warning.message = warning.message.slice(0, warning.message.indexOf("…") + 1);
  expect(listed).toEqual(shown);
});
