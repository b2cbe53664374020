/** A module that extends the Registry Utility: written with the package, and served by it. It is that of docs/contexts.md. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { elementOf, lines } from "../fixtures/contexts.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { type Ended, Program } from "../fixtures/program.js";
import {
  account,
  leg,
  settlement,
  settlementFactory,
  withdraw,
  cancel,
  allocationChoice,
} from "../fixtures/requests.js";
import { registryWithInstructions } from "../fixtures/utility-calls.js";
import { Project } from "./project.js";

const { registrar } = parties;
const page =
  readFileSync("docs/contexts.md", "utf8")
    .split(/^## /m)
    .find((part) => part.startsWith("A module\n")) ?? "";
const blocks = (language: string): string[] =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , text = ""]) => text);

const [source = ""] = blocks("ts");
const fees = (id: string, rate: string) => elementOf("acme-fees-v1#Acme.Fees:FeeSchedule", id, { registrar, rate });
const basket = (id: string, ...instruments: string[]) =>
  elementOf("acme-baskets-v1#Acme.Baskets:BasketAllocation", id, {
    registrar,
    authorizer: "alice",
    instruments,
    lockedHoldings: instruments.map((instrument) => `locked-${instrument}`),
  });
const instruments = ["EUR", "GBP"];
const elements: JsonObject[] = [
  ...registryWithInstructions(),
  ...instruments.map((id) => element("InstrumentConfiguration", id, payload.configuration(id))),
  ...["USD", ...instruments].map((id) => element("Holding", `locked-${id}`, payload.lockedHolding("alice", id))),
  basket("basket", "USD", ...instruments),
];

let project: Project;
beforeAll(async () => {
  project = await Project.withServer();
  await project.write("acme.ts", source);
  // The page installs this package.
  await project.link("@types/node");
  await project.write("acme.ndjson", lines(...[...elements, fees("fees", "0.25")].map((one) => JSON.stringify(one))));
}, 120_000);
afterAll(() => project.remove());

let compiled: Promise<void> | undefined;
/** Compiles the module as the page says, once. A program can be started in a test only. */
const compile = (): Promise<void> =>
  (compiled ??= (async () => {
    const [, command = ""] = /npx tsc (.*) acme\.ts/.exec(page) ?? [];
    expect(await project.compile(...command.split(" "), "acme.ts")).toEqual({ code: 0, out: "", err: "" });
  })());

async function offledger(...args: readonly string[]): Promise<Ended> {
  await compile();
  return new Program(process.execPath, [project.program, ...args], { cwd: project.folder }).ended();
}

async function serve(...more: readonly string[]): Promise<string> {
  await compile();
  const args = [
    project.program,
    "serve",
    "--registry",
    "./acme.js",
    "--snapshot",
    "acme.ndjson",
    "--port",
    "0",
    ...more,
  ];
  const env = { OFFLEDGER_LOG_LEVEL: "warn" };
  const program = new Program(process.execPath, args, { cwd: project.folder, env });
  const [, url = ""] = await program.printed(/^offledger serves \S+ at (http:\S+)$/m);
  return url;
}

async function post(url: string, body: JsonObject): Promise<{ status: number; body: JsonObject }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

interface Context {
  readonly choiceContextData: { readonly values: JsonObject };
  readonly disclosedContracts: readonly { readonly contractId: string }[];
}
const disclosedBy = (context: JsonValue | undefined): string[] =>
  (context as unknown as Context).disclosedContracts.map(({ contractId }) => contractId).toSorted();
const valuesOf = (context: JsonValue | undefined): JsonObject =>
  (context as unknown as Context).choiceContextData.values;

const settled = settlement(
  [leg(account("alice"), account("bob"), "USD"), leg(account("alice"), account("bob"), "EUR")],
  ["basket"],
);

test("the package has the table of operations, and its types are those of the page in strict mode too", async () => {
  expect(project.packed).toContain("src/registry/utility/utility.yaml");
  const strict = [
    "--strict",
    "--target",
    "es2023",
    "--module",
    "nodenext",
    "--exactOptionalPropertyTypes",
    "--types",
    "",
    "--noEmit",
  ];
  expect(await project.compile(...strict, "acme.ts")).toEqual({ code: 0, out: "", err: "" });
});

test("its operations are in the output of offledger contexts, as the page shows", async () => {
  const { code, out, err } = await offledger("contexts", "--registry", "./acme.js");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const [row = ""] = blocks("text");
  expect(out).toContain(`\n${row}\n`);
});

test("its snapshot can be checked", async () => {
  const { code, out } = await offledger("check", "--registry", "./acme.js", "--snapshot", "acme.ndjson");
  expect(out).toContain(`acme.ndjson can be served: ${elements.length + 1} contracts`);
  expect(code).toBe(0);
});

/** A settlement of so many legs. */
const many = (legs: number): JsonObject =>
  settlement(
    Array.from({ length: legs }, () => leg(account("alice"), account("bob"), "USD")),
    [],
  );

describe("served", () => {
  test("its entry is in a settlement, and its allocations are settled with all that they lock", async () => {
    const url = await serve();
    const { status, body } = await post(url + settlementFactory(), settled);
    expect(status).toBe(200);
    expect(valuesOf(body["choiceContext"])).toMatchObject({
      "utility.digitalasset.com/fee-rate": { tag: "AV_Decimal", value: "0.25" },
      "utility.digitalasset.com/instrument-configurations": {
        tag: "AV_Map",
        value: { USD: { tag: "AV_ContractId", value: "usd" }, EUR: { tag: "AV_ContractId", value: "EUR" } },
      },
    });
    const disclosed = disclosedBy(body["choiceContext"]);
    for (const id of ["basket", "factory", "locked-EUR", "locked-GBP", "locked-USD", "rule", "usd"])
      expect(disclosed).toContain(id);
    // The rate is read, not referred to.
    expect(disclosed).not.toContain("fees");
  });

  test("the choices on its allocations disclose all that they lock; those on others work as before", async () => {
    const url = await serve();
    const locked = ["locked-EUR", "locked-GBP", "locked-USD"];
    for (const path of [withdraw("basket"), cancel("basket"), allocationChoice("v2", "withdraw")("basket")]) {
      const { status, body } = await post(url + path, { meta: {} });
      expect({ path, status, disclosed: disclosedBy(body) }).toEqual({ path, status: 200, disclosed: locked });
    }
    const executed = await post(url + allocationChoice("v1", "execute-transfer")("basket"), { meta: {} });
    expect(executed.status).toBe(200);
    expect(disclosedBy(executed.body)).toEqual(["alice-holds", ...locked, "rule"].toSorted());
    expect(disclosedBy((await post(url + withdraw("allocation"), { meta: {} })).body)).toEqual(["locked"]);
    expect((await post(url + withdraw("00ff"), { meta: {} })).status).toBe(404);
    const others = registrar.replace("registrar", "other");
    expect((await post(url + withdraw("basket", others), { meta: {} })).status).toBe(404);
  });

  test("a required contract that is missing is 404, by the module's message", async () => {
    await project.write("without.ndjson", lines(...elements.map((one) => JSON.stringify(one))));
    const url = await serve("--snapshot", "without.ndjson");
    expect(await post(url + settlementFactory(), settled)).toEqual({
      status: 404,
      body: { error: `the FeeSchedule of registrar ${registrar} does not exist` },
    });
  });

  test("one in reassignment is 409", async () => {
    const moving = elementOf(
      "acme-fees-v1#Acme.Fees:FeeSchedule",
      "fees",
      { registrar, rate: "1" },
      { moving: "unassigned" },
    );
    await project.write("moving.ndjson", lines(...[...elements, moving].map((one) => JSON.stringify(one))));
    const url = await serve("--snapshot", "moving.ndjson");
    const { status, body } = await post(url + settlementFactory(), settled);
    expect(status).toBe(409);
    expect(body["error"]).toContain(`the FeeSchedule of registrar ${registrar} (contract fees) is being reassigned`);
  });

  test("the limits on settlements apply", async () => {
    const url = await serve("--max-legs", "30");
    expect((await post(url + settlementFactory(), many(30))).status).toBe(200);
    const { status, body } = await post(url + settlementFactory(), many(31));
    expect({ status, body }).toEqual({
      status: 400,
      body: { error: "the settlement has 31 legs, but this registry supports at most 30" },
    });
  });

  test("the contexts file applies after it, and may name its entry", async () => {
    const contexts = lines(
      "changes:",
      "  - { operations: [settlement-factory], remove: [fee-rate] }",
      "  - { operations: [allocation/cancel], add: [{ entry: fee-rate, keys: [rate] }] }",
    );
    await project.write("contexts.yaml", contexts);
    const url = await serve("--contexts", "contexts.yaml");
    const cancelled = await post(url + cancel("basket"), { meta: {} });
    expect(valuesOf(cancelled.body)["rate"]).toEqual({ tag: "AV_Decimal", value: "0.25" });
    const { body } = await post(url + settlementFactory(), settled);
    expect(Object.keys(valuesOf(body["choiceContext"]))).not.toContain("utility.digitalasset.com/fee-rate");
  });
});

/** The text of a module. */
const extend = (extension: string): string =>
  `import { extendUtility } from "offledger/registry"; export default extendUtility(${extension});`;

describe("a wrong module ends the program with exit code 2:", () => {
  test.each<[string, string, string]>([
    [
      "an entry without value",
      extend("{ entries: { licence: {} } }"),
      "module.entries.licence.value: must be a synchronous function",
    ],
    [
      "an async entry",
      extend("{ entries: { licence: { async value() {} } } }"),
      "module.entries.licence.value: must be a synchronous function",
    ],
    [
      "an unknown operation",
      extend('{ operations: [{ operations: ["settle"], rewards: true }] }'),
      'module.operations[0].operations[0]: must be an operation, but is "settle"',
    ],
    [
      "a template without parse",
      extend('{ templates: [{ packageName: "p", qualifiedName: "M:T" }] }'),
      "module.templates[0].parse: must be a synchronous function",
    ],
    ["an unknown field", extend("{ entry: {} }"), "module.entry: is not a known field"],
    ["no extension", extend(""), "module: must be a map, but has no value"],
    ["a text", extend('"licence"'), 'module: must be a map, but is "licence"'],
    ["an error", 'throw new Error("no licence");', "wrong.js cannot be loaded: no licence"],
  ])("%s", async (_what, text, reason) => {
    await project.write("wrong.js", text);
    const commands = [
      ["contexts"],
      ["check", "--snapshot", "acme.ndjson"],
      ["serve", "--snapshot", "acme.ndjson", "--port", "0"],
    ];
    for (const { code, out, err } of await Promise.all(
      commands.map((args) => offledger(...args, "--registry", "./wrong.js")),
    )) {
      expect({ code, out }).toEqual({ code: 2, out: "" });
      for (const part of ["OFFLEDGER_REGISTRY must be ", "./wrong.js", reason]) expect(err).toContain(part);
    }
  });

  test("or a wrong contexts file beside a right module", async () => {
    await project.write(
      "contexts.yaml",
      lines("changes:", "  - { operations: [settlement-factory], add: [{ entry: fee-rate }] }"),
    );
    const { code, out, err } = await offledger("contexts", "--registry", "./acme.js", "--contexts", "contexts.yaml");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(
      "contexts.yaml:2:47: changes[0].add[0]: must not add the key utility.digitalasset.com/fee-rate to settlement-factory",
    );
  });
});

describe("does not compile with", () => {
  test.each<[string, (text: string) => string, string]>([
    ["a value without a tag", (text) => text.replace('tag: "AV_Decimal", ', ""), "tag"],
    [
      "an unknown form of credentials",
      (text) => text.replace("required: true", 'credentials: "always"'),
      "credentials",
    ],
    ["an unknown field", (text) => text.replace("allocations: [basket]", "allocation: [basket]"), "allocation"],
    [
      "an allocation without its registrar",
      (text) => text.replace('registrar: reader.id("registrar"),', ""),
      "registrar",
    ],
    ["an async entry", (text) => text.replace("value(_builder", "async value(_builder"), "Promise"],
  ])("%s", async (_what, change, name) => {
    const changed = change(source);
    expect(changed).not.toBe(source);
    await project.write("wrong.ts", changed);
    const { code, out } = await project.compile(
      "--strict",
      "--target",
      "es2023",
      "--module",
      "nodenext",
      "--types",
      "",
      "--noEmit",
      "wrong.ts",
    );
    expect(code).not.toBe(0);
    expect(out).toMatch(new RegExp(`^wrong\\.ts.*error TS[^]*${name}`));
  });
});
