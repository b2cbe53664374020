/** deploy/offledger@.service and offledger.env match the program. */
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.js";
import { LIMITS } from "../../src/config/limits.js";
import { type Setting } from "../../src/config/setting.js";
import { settings } from "../../src/config/settings.js";
import { main, run } from "../fixtures/program.js";

/** The sections of a unit: all values of each name, in order. */
function sections(text: string): Record<string, Record<string, string[]>> {
  const found: Record<string, Record<string, string[]>> = {};
  let section: Record<string, string[]> | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (/^\s*(?:[#;]|$)/.test(line)) continue;
    const header = /^\[(\w+)\]$/.exec(line)?.[1];
    const [, name, value = ""] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (header !== undefined) section = found[header] ??= {};
    else if (name !== undefined && section !== undefined) (section[name] ??= []).push(value);
    else throw new Error(`line ${index + 1} is neither a section nor a value: ${line}`);
  }
  return found;
}

/** The variables of an EnvironmentFile=; with `all` also those that are commented out. */
function variables(text: string, all = false): Record<string, string> {
  const found: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const [, mark, name, value = ""] = /^(#?)([A-Z_]+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined && (all || mark === "")) found[name] = value;
    else if (name === undefined && !/^(?:#.*)?$/.test(line)) throw new Error(`not a variable: ${line}`);
  }
  return found;
}

const text = readFileSync("deploy/offledger@.service", "utf8");
const { Unit, Service, Install } = sections(text);
const envText = readFileSync("deploy/offledger.env", "utf8");
const example = variables(envText, true);

/** The effective value of a name: the last one. */
const value = (name: string): string | undefined => Service?.[name]?.at(-1);
const withExamples = (...names: string[]): Record<string, string> => ({
  ...variables(envText),
  ...Object.fromEntries(Object.entries(example).filter(([name]) => names.some((begin) => name.startsWith(begin)))),
});

describe("the unit", () => {
  test("starts the built program with the instance name as command", () => {
    const [node, program, ...rest] = value("ExecStart")?.split(" ") ?? [];
    expect(node).toBe("/usr/bin/node");
    const inRepository = program?.replace(/^\/opt\/offledger\//, "");
    expect(main.endsWith(`/${inRepository}`)).toBe(true);
    expect(rest).toEqual(["%i"]);
    expect(value("WorkingDirectory")).toBe("/opt/offledger");
    expect(value("EnvironmentFile")).toBe("/etc/offledger/%i.env");
    expect(Unit?.["After"]?.[0]).toContain("network-online.target");
    expect(Install).toEqual({ WantedBy: ["multi-user.target"] });
    const instances = [...text.matchAll(/offledger@(\w+)/g)].map(([, command]) => command);
    expect(instances).toEqual(["serve", "mirror", "api"]);
  });

  test("does not restart after the exit code of a wrong configuration", async () => {
    const { code } = await run(process.execPath, [main, "api"], { cwd: tmpdir() });
    expect(value("Restart")).toBe("on-failure");
    expect(value("RestartPreventExitStatus")).toBe(String(code));
  });

  test("stops later than the grace period", () => {
    const read = readConfig(["serve"], variables(envText));
    if (!read.ok) throw new Error(read.errors.join("\n"));
    expect(Number(value("TimeoutStopSec"))).toBeGreaterThan(read.config.drainSeconds + LIMITS.graceSeconds + 5);
    expect(value("KillSignal") ?? "SIGTERM").toBe("SIGTERM");
  });

  test("has few privileges, but may compile at run time as V8 does", () => {
    const names = [
      "DynamicUser",
      "NoNewPrivileges",
      "CapabilityBoundingSet",
      "ProtectSystem",
      "MemoryDenyWriteExecute",
    ];
    expect(names.map(value)).toEqual(["yes", "yes", "", "strict", "no"]);
    expect(Service?.["SystemCallFilter"]).toContain("~@privileged @resources");
  });
});

describe("the example of the settings", () => {
  test("names existing settings", () => {
    const known = new Set(Object.values<Setting<unknown>>(settings).map(({ variable }) => variable));
    expect(Object.keys(example).filter((name) => name !== "NODE_OPTIONS" && !known.has(name))).toEqual([]);
    expect(Object.keys(example).length).toBeGreaterThan(Object.keys(variables(envText)).length + 5);
  });

  test.each([
    ["unchanged", "serve", withExamples()],
    ["with a file", "serve", withExamples("OFFLEDGER_SNAPSHOT")],
    ["with a participant", "serve", withExamples("OFFLEDGER_LEDGER", "OFFLEDGER_OIDC")],
    ["with a database", "api", withExamples("OFFLEDGER_DATABASE", "NODE_OPTIONS")],
    ["with both", "mirror", withExamples("OFFLEDGER_LEDGER", "OFFLEDGER_OIDC", "OFFLEDGER_DATABASE")],
  ])("is valid %s", (_title, command, env) => {
    expect(readConfig([command], env)).toMatchObject({ ok: true, command });
  });
});
