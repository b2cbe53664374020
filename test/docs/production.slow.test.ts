/** docs/production.md, run word by word in a fresh folder, in one shell: the outputs are those that the page shows. */
import { spawnSync } from "node:child_process";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { acme, elements, nordic, operator } from "../../demo/registry.js";
import { synchronizer } from "../../demo/element.js";
import { temporaryFolder } from "../fixtures/files.js";
import { freePort } from "../fixtures/free-port.js";
import { ownServer } from "../fixtures/postgres.js";
import { Program } from "../fixtures/program.js";
import { packServer } from "../package/project.js";
import { play } from "../scripted-participant/elements.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Participant } from "../scripted-participant/participant.js";
import { within } from "../fixtures/wait.js";
import { Page, shortenLike } from "./pages.js";

/** Of the processes that the page starts, and its proxy; a test takes free ones in their place. */
const PORTS = [8081, 8082, 8083, 8091, 8092, 9481, 9482, 9483, 443];
const END_OF_BLOCK = "-- end of block --";

const missing = ["psql", "haproxy", "curl", "openssl", "bash"].filter((tool) => spawnSync(tool, ["--help"]).error);

test("every command of the page prints what it shows", { timeout: 300_000 }, async ({ skip }) => {
  skip(missing.length > 0, `not installed: ${missing.join(", ")}`);
  const folder = await temporaryFolder();
  await packServer(folder);
  const ledger = new ScriptedLedger({ synchronizerId: synchronizer, clock: () => new Date() });
  play(ledger, elements);
  const participant = await Participant.start({ ledger, checkpointMs: 20 });
  onTestFinished(() => participant.stop());
  const database = await ownServer();
  onTestFinished(() => database.remove());

  const page = Page.read("docs/production.md");
  const ports = await Promise.all(PORTS.map(async (port) => [String(port), String(await freePort())] as const));
  const admin = new URL(database.url);
  const { host, hostname, port, username, password: adminPassword } = admin;
  admin.password = "";
  const passwordFile = join(folder, "pgpass");
  await writeFile(passwordFile, [hostname, port, "*", username, adminPassword].join(":"), { mode: 0o600 });
  const inPlace = (text: string): string =>
    ports
      .reduce((result, [from, to]) => result.replaceAll(new RegExp(`(?<![\\d.])${from}(?!\\d)`, "g"), to), text)
      .replaceAll("https://registry.example/", `https://registry.example:${new Map(ports).get("443")}/`)
      .replaceAll("127.0.0.1:5432", host);
  const [own, ...blocks] = page.blocks.filter(({ text }) => !text.includes("curl $PARTICIPANT/v2/users"));
  expect(own?.text).toContain("ADMIN_URL=");
  const parties = [operator, acme.provider, nordic.provider].join(",");
  const script = [
    "set -e",
    // Every command with its arguments, as whoever uses the machine sees them.
    "exec 9> commands; BASH_XTRACEFD=9; set -x",
    // Whatever the page starts ends with its shell.
    "trap 'tail -n 3 *.log >&2; kill $(jobs -p) 2> /dev/null; wait' EXIT",
    `export PARTICIPANT=${participant.url} PARTIES=${parties} ADMIN_URL=${admin.href} PGPASSFILE=${passwordFile}`,
    ...blocks.flatMap(({ language, text }) => (language === "sh" ? [inPlace(text), `echo '${END_OF_BLOCK}'`] : [])),
  ];
  const file = join(folder, "page.sh");
  await writeFile(file, inPort(script.join("\n"), ports));
  const program = new Program("bash", [file], { cwd: folder });
  await within(240_000, "the commands end", program.exit);

  const printed = program.out.split(`${END_OF_BLOCK}\n`);
  const commands = blocks.flatMap((block, index) =>
    block.language === "sh" ? [{ shown: blocks[index + 1]?.language === "text" ? blocks[index + 1]?.text : "" }] : [],
  );
  expect(commands.length).toBeGreaterThan(5);
  const results = commands.map(({ shown = "" }, index) => shortenLike(shown, printed[index] ?? ""));
  expect(results, program.err).toEqual(commands.map(({ shown }) => shown));

  const [password, traced] = await Promise.all(
    ["database-password", "commands"].map((name) => readFile(join(folder, name), "utf8")),
  );
  expect(password).toMatch(/^[\da-f]{48}$/);
  expect(traced).toContain("offledger migrate");
  const secrets = [password ?? "", adminPassword];
  expect(traced?.split("\n").filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
  expect(await secretsIn(folder, secrets)).toEqual([
    "both.pem 600",
    "database-password 600",
    "key.pem 600",
    "pgpass 600",
  ]);
});

/** The files of a folder that have a private key or a password, each with its mode. */
async function secretsIn(folder: string, passwords: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const name of (await readdir(folder)).toSorted((a, b) => (a < b ? -1 : 1))) {
    const status = await stat(join(folder, name));
    if (!status.isFile() || name.endsWith(".tgz")) continue;
    const text = await readFile(join(folder, name), "utf8");
    const isSecret = ["PRIVATE KEY-----", ...passwords].some((secret) => text.includes(secret));
    if (isSecret) found.push(`${name} ${(status.mode & 0o777).toString(8)}`);
  }
  return found;
}

/** HAProxy listens on the port of the page's URL. */
const inPort = (script: string, ports: readonly (readonly [string, string])[]): string =>
  script.replace(
    '"$DEPLOY/proxy/haproxy.cfg"',
    `-e 's/bind :443/bind :${new Map(ports).get("443")}/' "$DEPLOY/proxy/haproxy.cfg"`,
  );
