/** The command line of the checker: reports, profiles and what is wrong with options. */
import { createServer } from "node:http";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { conformance } from "../../packages/conformance/src/command.js";

let folder = "";
let url = "";
/** A registry of one instrument, whose supply is written with separators, and of no operation. */
const registry = createServer((request, response) => {
  const supportedApis = { "splice-api-token-holding-v1": 1, "splice-api-token-transfer-instruction-v1": 1 };
  const gold = { id: "GOLD", name: "Gold", symbol: "GLD", decimals: 2, totalSupply: "1_000", supportedApis };
  const answers: Readonly<Record<string, unknown>> = {
    "/registry/metadata/v1/info": { adminId: "gold::1220", supportedApis },
    "/registry/metadata/v1/instruments": { instruments: [gold] },
    "/registry/metadata/v1/instruments/GOLD": gold,
  };
  const [path = ""] = (request.url ?? "").split("?");
  const answer = request.method === "GET" ? answers[path] : undefined;
  response
    .writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" })
    .end(JSON.stringify(answer ?? { error: "not here <&> 'quoted'" }));
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "conformance-"));
  registry.listen(0, "127.0.0.1");
  await once(registry, "listening");
  url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
});
afterAll(async () => {
  registry.close();
  await rm(folder, { recursive: true });
});

async function command(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ["", ""];
  const code = await conformance(
    args,
    (text) => void (out += text),
    (text) => void (err += text),
  );
  return { code, out, err };
}
const inFolder = async (name: string, text: string): Promise<string> => {
  await writeFile(join(folder, name), text);
  return join(folder, name);
};

test("a run says what is wrong, what was sent, without the token, and what helps; its reports too", async () => {
  const [token, junit, markdown] = [await inFolder("token", "secret-1\n"), join(folder, "j.xml"), join(folder, "m.md")];
  const secret = ["--header", "X-Gate: secret-2"];
  const options = [...secret, "--rate", "1000", "--token-file", token, "--junit", junit, "--markdown", markdown];
  const { code, out } = await command(url, ...options);
  expect(code).toBe(1);
  expect(out).toMatch(/^FAIL must +total-supply: totalSupply of GOLD is "1_000"$/m);
  expect(out).toContain(
    `sent: curl -H 'x-gate: …' -H 'authorization: …' -H 'accept: application/json' '${url}/registry`,
  );
  expect(out).toContain("help: Write it as digits");
  expect(out).toMatch(/^\d+ passed, \d+ failed, \d+ skipped; \d+ requests$/m);
  const [xml, table] = [await readFile(junit, "utf8"), await readFile(markdown, "utf8")];
  expect(xml).toContain('failures="1"');
  expect(xml).toContain('<failure message="totalSupply of GOLD is &quot;1_000&quot;">curl');
  expect(table).toContain('| failed | must | total-supply | totalSupply of GOLD is "1_000" | `curl ');
  for (const text of [out, xml, table]) expect(text).not.toContain("secret-");
});

test("whoever is let in by a header is not asked to come with a token", async () => {
  const { out } = await command(url, "--rate", "1000", "--header", "X-Gate: open");
  expect(out).toMatch(/^- +habit +authorization: the registry is not open to all$/m);
});

test("an exception that fails is expected, and one that passes fails the run", async () => {
  const profile = (check: string) =>
    `url: ${url}\nrate: 1000\nexceptions:\n  - check: ${check}\n    reason: the ledger's page\n`;
  const expected = await command("--profile", await inFolder("a.yaml", profile("total-supply")), "--json", "-");
  expect(expected.code).toBe(0);
  const { checks } = JSON.parse(expected.out) as { checks: readonly { id: string; outcome: string }[] };
  expect(checks.find(({ id }) => id === "total-supply")?.outcome).toBe("expected");
  // What was not tried is neither.
  const skipped = await command("--profile", await inFolder("c.yaml", profile("replicas")), "--json", "-");
  expect(JSON.parse(skipped.out)).toMatchObject({
    checks: expect.arrayContaining([expect.objectContaining({ id: "replicas", outcome: "skipped" })]) as unknown,
  });
  const outdated = await command(
    "--profile",
    await inFolder("b.yaml", `${profile("total-supply")}  - check: info\n    reason: was wrong\n`),
  );
  expect(outdated.code).toBe(1);
  expect(outdated.out).toMatch(/^FAIL must +info: it passes, and the profile expects it to fail: was wrong$/m);
});

test.each<[what: string, args: readonly string[], profile: string | undefined, says: string]>([
  ["no URL", [], undefined, "give the URL that stands before /registry/"],
  ["an unknown option", ["--regstrar", "a"], undefined, "Unknown option '--regstrar'"],
  ["a rate of nothing", ["--rate", "0"], "url: http://a", "--rate 0 must be a number from above 0 to 1000"],
  ["another severity", ["--fail-on", "all"], "url: http://a", "--fail-on all must be must, should or habit"],
  ["a header without a name", ["--header", "token"], "url: http://a", "--header must be NAME:VALUE"],
  ["an unknown word in a profile", [], "registry: a", "registry is none of url, registrar"],
  ["a number of instruments", [], "instrument: GOLD", "instrument has to be a list"],
  ["an exception of no check", [], "exceptions: [{check: infos, reason: a}]", 'the exception "infos" names none of'],
  ["an exception without a reason", [], "exceptions: [{check: info}]", "the exception of info needs a reason"],
  ["a profile that is no YAML", [], "a: [", "is no YAML"],
  ["an unknown check to explain", ["--explain", "infos"], undefined, "there is no check infos: there are info,"],
])("%s is refused in a sentence", async (_what, args, profile, says) => {
  const given = profile === undefined ? [] : ["--profile", await inFolder("wrong.yaml", profile)];
  const { code, err } = await command(...args, ...given);
  expect(code).toBe(2);
  expect(err).toContain(says);
  expect(err).not.toContain("    at ");
});

test("a check is explained with the sentence that it enforces", async () => {
  const { out, code } = await command("--explain", "decimals");
  expect([code, out]).toEqual([
    0,
    'decimals (must): decimals are from 0 to 10.\n\n  "Must be a number between 0 and 10"\n' +
      "  token-metadata-v1 1.0.0, Instrument.decimals\n\nWhat helps: Correct the decimals of the instrument.\n",
  ]);
});
