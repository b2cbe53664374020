/** The program with a contexts file: a wrong one ends it with exit code 2, a good one is in force. */
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { contextsFile, lines } from "../fixtures/contexts.js";
import { type Ended, main, Program, run } from "../fixtures/program.js";

const commands = ["serve", "check", "contexts"] as const;
type Command = (typeof commands)[number];

const offledger = (command: Command, path: string, more: readonly string[] = []): Promise<Ended> =>
  run(process.execPath, [main, command, "--contexts", path, "--port", "0", ...more], { cwd: process.cwd() });

describe("ends with exit code 2 for", () => {
  test.each<[string, string | Uint8Array, string[]]>([
    [
      "an unknown operation and a wrong type",
      lines("changes:", "  - operations: [settlement]", "    rewards: 1"),
      [
        '2:18: changes[0].operations[0]: must be an operation, but is "settlement"; operations: transfer-factory/offer',
        "3:5: changes[0].rewards: must be true or false, but is 1",
      ],
    ],
    ["a tab", lines("changes:", "\t- rewards: true"), ["2:1: Tabs are not allowed as indentation"]],
    ["a key that is given twice", lines("changes: []", "changes: []"), ["2:1: Map keys must be unique"]],
    ["20,000 levels", `changes: ${"[".repeat(20_000)}`, ["1:109: values must be nested at most 100 levels deep"]],
    ["bytes that are not UTF-8", Buffer.from([0x23, 0x0a, 0xff, 0x0a]), ["2:1: the file must be UTF-8"]],
    ["more bytes than allowed", "#".repeat(1_100_000), ["1:1: the file must have at most 1048576 bytes"]],
    [
      "a key that is there already",
      lines("changes:", "  - add: [{ entry: transfer-rule }]"),
      ["2:11: changes[0].add[0]: must not add the key"],
    ],
  ])("%s", async (_what, content, expected) => {
    const path = await contextsFile(content);
    for (const ended of await Promise.all(commands.map((command) => offledger(command, path)))) {
      const { code, out, err } = ended;
      expect({ code, out }).toEqual({ code: 2, out: "" });
      const [first, ...problems] = err.trimEnd().split("\n");
      expect(first).toBe("offledger: OFFLEDGER_CONTEXTS must be the path of a YAML file of choice contexts: ");
      expect(problems).toHaveLength(expected.length);
      for (const [index, text] of expected.entries())
        expect(problems[index]?.slice(0, path.length + 1 + text.length)).toBe(`${path}:${text}`);
    }
  });

  test("a missing file, named by the variable", async () => {
    const env = { OFFLEDGER_CONTEXTS: "/nowhere/contexts.yaml" };
    const { code, out, err } = await run(process.execPath, [main, "serve", "--port", "0"], { cwd: process.cwd(), env });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    for (const part of ["OFFLEDGER_CONTEXTS", "ENOENT", "/nowhere/contexts.yaml"]) expect(err).toContain(part);
  });

  test("a registry without a table of contexts", async () => {
    const path = await contextsFile("changes: []");
    for (const command of ["serve", "check"] as const) {
      const { code, out, err } = await offledger(command, path, ["--registry", "minimal"]);
      expect({ code, out }).toEqual({ code: 2, out: "" });
      expect(err).toBe("offledger: OFFLEDGER_CONTEXTS must be unset: the registry minimal has no table of contexts\n");
    }
  });
});

describe("a good file", () => {
  const content = lines(
    "changes:",
    "  - operations: [mint-offer/cancel]",
    "    add: [{ entry: transfer-rule, keys: [rule] }]",
  );

  test("is in the output of offledger contexts", async () => {
    const { code, out, err } = await offledger("contexts", await contextsFile(content));
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("\nmint-offer/cancel\n  rule (entry transfer-rule)\n  discloses locked-holding\n");
    expect(out).toContain("\nmint-request/cancel\nburn-offer/cancel\nburn-request/cancel\n  no entries\n");
  });

  test("is served", async () => {
    const path = await contextsFile(content);
    const args = [main, "serve", "--contexts", path, "--port", "0"];
    const env = { OFFLEDGER_LOG_LEVEL: "silent" };
    const program = new Program(process.execPath, args, { cwd: process.cwd(), env });
    await program.printed(/^offledger serves .* at http/m);
    program.stop();
    expect(await program.ended()).toMatchObject({ code: 0, err: "" });
  });

  test("does not hinder offledger check", async () => {
    const checked = await offledger("check", await contextsFile(content));
    expect(checked.out).toContain("can be served");
    // The demo has warnings, and so has the exit code.
    expect(checked).toEqual(await offledger("check", await contextsFile("")));
  });
});

test("of a registry file, the built-in one too, offledger contexts prints the file", async () => {
  const { code, out } = await run(process.execPath, [main, "contexts", "--registry", "minimal"], { cwd: tmpdir() });
  expect(code).toBe(0);
  expect(parse(out)).toEqual(parse(await readFile("registries/minimal.yaml", "utf8")));
});
