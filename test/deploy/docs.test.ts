/** docs/deploy.md, SECURITY.md and CONTRIBUTING.md name what there is. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type Setting, settings } from "../../src/config/settings.js";
import { composeFile, type Compose } from "./compose.js";
import { type Stage, stages } from "./dockerfile.js";

const guide = readFileSync("docs/deploy.md", "utf8");
const image = stages().at(-1) as Stage;
const { services, secrets } = composeFile("compose.yaml") as Compose;
const { version, scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
  version: string;
  scripts: Record<string, string>;
};

test.each(["docs/deploy.md", "SECURITY.md", "CONTRIBUTING.md"])("%s leads to files that there are", (file) => {
  const text = readFileSync(file, "utf8");
  const links = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = ""]) => join(dirname(file), link));
  expect(links.length).toBeGreaterThan(2);
  expect(links.filter((link) => !existsSync(link))).toEqual([]);
});

test("the guide gives each secret the owner that reads it, and the mode that it has to have", () => {
  const [, owner] = /chmod 600 deploy\/secrets\/pgpass && sudo chown (\d+) deploy\/secrets\/pgpass\n/.exec(guide) ?? [];
  expect(`${owner}:${owner}`).toBe(image.last("USER"));
  const [, other] = /chmod 400 \S+\/database_password && sudo chown (\d+) \S+\/database_password\n/.exec(guide) ?? [];
  expect(`${other}:${other}`).toBe(services["postgres"]?.user);
  for (const { file } of Object.values(secrets)) expect(guide).toContain(`> deploy/${file.slice(2)}\n`);
});

test("the guide names the release, and settings that there are", () => {
  expect(new Set(guide.match(/offledger:\d[\d.]*\d/g))).toEqual(new Set([`offledger:${version}`]));
  const known = new Set(Object.values<Setting<unknown>>(settings).map(({ variable }) => variable));
  const named = guide.match(/\bOFFLEDGER_[A-Z_]+/g) ?? [];
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test("CONTRIBUTING.md is one page, and names scripts that there are", () => {
  const text = readFileSync("CONTRIBUTING.md", "utf8");
  expect(text.split("\n").length).toBeLessThan(65);
  const named = [...text.matchAll(/npm run (\w+)/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});
