/** Each command as a program, with the variables that a cluster adds for a Service named offledger. */
import { expect, onTestFinished, test } from "vitest";
import { temporaryFile } from "../fixtures/files.js";
import { freshDatabase } from "../fixtures/postgres.js";
import { offledger, type Program, start } from "../fixtures/program.js";
import { linksWarning, serviceLinks } from "../fixtures/service-links.js";

const warnings = (err: string): string[] => {
  const lines = err.split("\n").filter((line) => line.includes("Service named offledger"));
  return lines.map((line) => (JSON.parse(line) as { readonly msg: string }).msg);
};

async function expectServing(program: Program): Promise<string> {
  const url = await program.listens();
  expect(warnings(program.err)).toEqual([linksWarning]);
  return url;
}

test("processes that serve start, and warn once", async () => {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const replica = ["--port", "0", "--database-url", database.url];
  const migrated = await offledger(["migrate", "--database-url", database.url], serviceLinks);
  expect(migrated.code, migrated.err).toBe(0);
  expect(warnings(migrated.err)).toEqual([linksWarning]);
  await expectServing(start(["mirror", ...replica], serviceLinks));
  await expectServing(start(["api", ...replica], serviceLinks));
  const { port } = new URL(await expectServing(start(["serve", "--port", "0"], serviceLinks)));
  expect(await offledger(["health", "--port", port], serviceLinks)).toMatchObject({ code: 0, out: "ok\n" });
});

test("commands that end run, and warn once", async () => {
  const contexts = await temporaryFile("contexts.yaml", "entries: {}\n");
  const commands: [line: string, code: number, output: RegExp][] = [
    // The demo registry has warnings.
    ["check", 1, /^registrar acme-registrar::/m],
    [`contexts --contexts ${contexts}`, 0, /./],
    [`registry test ${process.cwd()}/registries/minimal.yaml`, 0, /./],
    // Nothing listens there.
    ["explain id --metrics-port 1", 1, /the service at http:\S+:1 cannot explain the request: connect ECONNREFUSED/],
    ["help", 0, /^  offledger serve/m],
    ["version", 0, /^\d+\.\d+\.\d+/],
  ];
  for (const [line, code, output] of commands) {
    const ended = await offledger(line.split(" "), serviceLinks);
    expect(ended.code, `${line}: ${ended.out}${ended.err}`).toBe(code);
    expect(ended.out + ended.err).toMatch(output);
    expect(warnings(ended.err)).toEqual([linksWarning]);
  }
});
