/** docs/deploy.md and CONTRIBUTING.md match the files that they describe. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Setting } from "../../src/config/setting.js";
import { settings } from "../../src/config/settings.js";
import { composeFile, type Compose } from "./compose.js";
import { type Stage, stages } from "./dockerfile.js";

const guide = readFileSync("docs/deploy.md", "utf8");
const image = stages().at(-1) as Stage;
const { services, secrets } = composeFile("compose.yaml") as Compose;
const { version, scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
  version: string;
  scripts: Record<string, string>;
};

test("docs/deploy.md gives each secret the owner that reads it", () => {
  const [, owner] = /chmod 600 deploy\/secrets\/pgpass && sudo chown (\d+) deploy\/secrets\/pgpass\n/.exec(guide) ?? [];
  expect(`${owner}:${owner}`).toBe(image.last("USER"));
  const [, other] = /chmod 400 \S+\/database_password && sudo chown (\d+) \S+\/database_password\n/.exec(guide) ?? [];
  expect(`${other}:${other}`).toBe(services["postgres"]?.user);
  for (const { file } of Object.values(secrets)) expect(guide).toContain(`> deploy/${file.slice(2)}\n`);
});

test("docs/deploy.md names the current version and existing settings", () => {
  expect(new Set(guide.match(/offledger:\d[\d.]*\d/g))).toEqual(new Set([`offledger:${version}`]));
  const known = new Set(Object.values<Setting<unknown>>(settings).map(({ variable }) => variable));
  const named = guide.match(/\bOFFLEDGER_[A-Z_]+/g) ?? [];
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test("CONTRIBUTING.md is short, and names existing scripts", () => {
  const text = readFileSync("CONTRIBUTING.md", "utf8");
  expect(text.split("\n").length).toBeLessThan(200);
  const named = [...text.matchAll(/npm run (\w+)/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});
